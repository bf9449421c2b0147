import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Admission } from '../api/admission.ts';
import { refuseMalformed } from '../api/malformed.ts';
import { noContent } from '../api/responses.ts';
import { type RequestState, respond } from './respond.ts';

/** The response header fields that a script of an allowed origin may read. */
const EXPOSED_HEADERS =
  'Deprecation,ETag,Idempotency-Replayed,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id';

/**
 * Creates the middleware for cross-origin resource sharing (CORS). The middleware must run before the check of the API
 * key, because a preflight request contains no key.
 */
export function allowOrigins(origins: readonly string[], admission: Admission): Middleware {
  const middleware = cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      return origins.includes(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,OPTIONS',
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    // With `true`, @koa/cors would replace the array `headers` of an `HttpError` with an object.
    keepHeadersOnError: false,
  });
  return async (ctx, next) => {
    let isPreflight = true;
    await middleware(ctx, () => {
      isPreflight = false;
      return next();
    });
    if (!isPreflight) return;
    refuseMalformed(ctx.req);
    if (admission.isCrowded) await admission.delay(ctx.req.socket, undefined, ctx.res);
    respond(ctx, noContent(ctx.req, [], (ctx.state as RequestState).app.deprecation));
  };
}
