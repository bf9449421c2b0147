/** Lets scripts of other origins call the API in a browser (Fetch Standard, section 3.3). */

import { checkHead } from './check-head.ts';
import { DEPRECATION_NAMES } from './lifecycle.ts';
import { noContent } from './respond.ts';
import type { ApiMiddleware } from './state.ts';

const EXPOSED_HEADERS = [
  ...['ETag', 'Idempotency-Replayed', 'Link', 'Location', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
  ...DEPRECATION_NAMES,
]
  .toSorted()
  .join(',');

/** Runs before API keys are checked, because a preflight request contains none. */
export function cors(origins: readonly string[], methods: readonly string[]): ApiMiddleware {
  return (ctx, next) => {
    ctx.vary('Origin');
    const origin = ctx.get('origin');
    if (!origins.includes(origin)) return next();
    const isOptions = ctx.method === 'OPTIONS';
    if (isOptions && ctx.get('access-control-request-method') === '') return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    if (!isOptions) {
      ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return next();
    }
    ctx.set('Access-Control-Max-Age', '600'); // in seconds
    ctx.set('Access-Control-Allow-Methods', methods.join(','));
    const requested = ctx.get('access-control-request-headers');
    if (requested !== '') ctx.set('Access-Control-Allow-Headers', requested);
    return checkHead(ctx, async () => noContent(ctx));
  };
}

/** Matches origins such as `https://example.org` and `capacitor://localhost:8100`. Browsers send hosts in lower case. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/;

/** Checks whether a text is an origin as browsers send it. A pattern such as `https://*.example.org` is not an origin. */
export function isOrigin(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const [, scheme = ''] = ORIGIN.exec(text) ?? [];
  // For http and https, browsers leave out the default port and normalize IP addresses, as `URL` does.
  return /^https?$/.test(scheme) ? URL.parse(text)?.origin === text : scheme !== '';
}
