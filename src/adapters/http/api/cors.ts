import { refuseMalformed } from './check-head.ts';
import { type Context, fieldOf, type Stage } from './context.ts';
import { SERVER_METHODS } from './errors.ts';
import { noContent } from './responses.ts';

const EXPOSED_HEADERS =
  'Deprecation,ETag,Idempotency-Replayed,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id';

/** Whether a text is an origin as browsers send it. A pattern such as `https://*.example.org` equals no origin. */
export function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;
}

/** How long a browser may cache the response to a preflight request, in seconds. */
const MAX_AGE = '600';

/**
 * Lets scripts of other origins call the API in a browser (Fetch Standard, section 3.3). Responds to a preflight request,
 * which contains no API key. Without origins, no response has a CORS header field.
 *
 * @param takeTurn waits for the turn of a preflight request
 */
export function cors(
  origins: readonly string[] | undefined,
  takeTurn: (ctx: Context) => Promise<void>,
): Stage {
  if (origins === undefined || origins.length === 0) return (_, next) => next();
  return (ctx, next) => {
    ctx.set('Vary', 'Origin');
    const origin = fieldOf(ctx, 'origin');
    if (origin === undefined || !origins.includes(origin)) return next();
    if (ctx.method === 'OPTIONS') return isPreflight(ctx) ? respondToPreflight(ctx, origin) : next();
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    return next();
  };

  async function respondToPreflight(ctx: Context, origin: string): Promise<void> {
    await takeTurn(ctx);
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Max-Age', MAX_AGE);
    ctx.set('Access-Control-Allow-Methods', SERVER_METHODS.join(','));
    const requested = fieldOf(ctx, 'access-control-request-headers');
    if (requested) ctx.set('Access-Control-Allow-Headers', requested);
    refuseMalformed(ctx);
    noContent(ctx);
  }
}

function isPreflight(ctx: Context): boolean {
  return Boolean(fieldOf(ctx, 'access-control-request-method'));
}
