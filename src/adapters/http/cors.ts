/** Lets scripts of other origins call the API in a browser (Fetch Standard, section 3.3). */

import { checkHead } from './check-head.ts';
import { type Context, fieldOf, type Stage } from './context.ts';
import { SERVER_METHODS } from './operations.ts';
import { noContent } from './responses.ts';

const EXPOSED_HEADERS =
  'Deprecation,ETag,Idempotency-Replayed,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id';

/** How long a browser may cache the response to a preflight request, in seconds. */
const MAX_AGE = '600';

/** A preflight request contains no API key. */
export function cors(origins: readonly string[]): Stage {
  return (ctx, next) => {
    ctx.vary('Origin');
    const origin = fieldOf(ctx, 'origin');
    if (origin === undefined || !origins.includes(origin)) return next();
    if (ctx.method === 'OPTIONS') {
      return fieldOf(ctx, 'access-control-request-method') ? respondToPreflight(ctx, origin) : next();
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    return next();
  };
}

function respondToPreflight(ctx: Context, origin: string): unknown {
  ctx.set('Access-Control-Allow-Origin', origin);
  ctx.set('Access-Control-Max-Age', MAX_AGE);
  ctx.set('Access-Control-Allow-Methods', SERVER_METHODS.join(','));
  const requested = fieldOf(ctx, 'access-control-request-headers');
  if (requested) ctx.set('Access-Control-Allow-Headers', requested);
  return checkHead(ctx, async () => noContent(ctx));
}

/** `https://example.org` and `capacitor://localhost:8100`, for example. A host in capital letters equals no origin. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/;

/** Checks whether a text is an origin as browsers send it. A pattern such as `https://*.example.org` equals no origin. */
export function isOrigin(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const [, scheme = ''] = ORIGIN.exec(text) ?? [];
  // Browsers leave out the default port of these schemes, and write an address in one way.
  return /^https?$/.test(scheme) ? URL.parse(text)?.origin === text : scheme !== '';
}
