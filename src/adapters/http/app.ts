/** The Koa app: what every request passes, in order. */

import cors from '@koa/cors';
import Koa, { type Context, type Middleware } from 'koa';
import type { ApiKeyVerifier } from '../../application/ports.ts';
import { type OnAnswer, type OnError, type RequestState, sendError, sendNoContent } from './answer.ts';
import { bearerKey, wrongKey } from './authentication.ts';
import { HttpError } from './errors.ts';
import { requestIdOf } from './headers.ts';
import { refuseMalformed } from './malformed.ts';
import type { UseCases } from './pets.ts';
import { routes } from './routes.ts';

export interface HttpAppOptions extends UseCases {
  readonly apiKeys: ApiKeyVerifier;
  /** Rejects when the storage cannot serve. */
  readonly check: () => Promise<void>;
  /** Whether the server is on its way down: then new requests are turned away. */
  readonly isStopping?: (() => boolean) | undefined;
  /** The address that clients use, for the OpenAPI document; without it the document follows the request's Host. */
  readonly publicUrl?: string | undefined;
  /** Origins that browsers may call from; none means no CORS header at all. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Told of every answered request. */
  readonly onAnswer?: OnAnswer | undefined;
  readonly onError?: OnError | undefined;
}

/** What a script in a browser may read of an answer. */
const EXPOSED_HEADERS = 'Deprecation,ETag,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id';

/**
 * Koa without what it does after the middleware: to look for an answer's end, and to make one of `ctx.body`. Safe,
 * because whatever is thrown ends here, and every answer is written by `send`. It is an eighth of a request's time.
 */
class App extends Koa {
  handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    return run(ctx).catch((error: unknown) => {
      if (ctx.respond !== false) sendError(ctx, error);
    });
  }
}

/** The service as a Koa app. It listens nowhere and holds nothing that has to be closed. */
export function createHttpApp(options: HttpAppOptions): Koa {
  const { corsOrigins = [], onAnswer, onError } = options;
  const app = new App();

  app.use((ctx, next) => {
    const { 'x-request-id': givenId, authorization } = ctx.req.headers;
    const requestId = requestIdOf(givenId, authorization);
    const startedAt = onAnswer === undefined ? 0 : performance.now();
    ctx.state = { requestId, startedAt, onAnswer, onError } satisfies RequestState;
    return next();
  });
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(guard(options));
  app.use(routes(options));
  app.use(async (ctx) => {
    if (ctx.method !== 'OPTIONS' || ctx.req.url !== '*') {
      throw new HttpError('not_found', 'there is nothing at this path; the API is under /v1');
    }
    sendNoContent(ctx, ['Allow', 'GET, HEAD, POST, OPTIONS']);
  });
  return app;
}

/** Under /v1 the key comes first: whoever has none learns nothing else. */
function guard({ apiKeys, isStopping }: HttpAppOptions): Middleware {
  return async (ctx, next) => {
    const path = pathOf(ctx);
    if (path.startsWith('/v1') && (path.length === 3 || path[3] === '/')) {
      const holder = await apiKeys.verify(bearerKey(ctx.req));
      if (holder === undefined) throw wrongKey();
      ctx.state['holder'] = holder;
      if (isStopping?.()) throw new HttpError('overloaded', 'the server is stopping');
    }
    refuseMalformed(ctx.req);
    await next();
  };
}

function pathOf(ctx: Context): string {
  let path: string | null = null;
  try {
    path = ctx.path; // null for `http://`, whatever its type says
  } catch {}
  if (path === null) throw new HttpError('invalid_request', "the request's target is not a URL");
  return path;
}

/** A preflight brings no key, so it is answered before one is asked for. */
function allowOrigins(origins: readonly string[]): Middleware {
  const middleware = cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      return origins.includes(origin) ? origin : '';
    },
    allowMethods: 'GET,HEAD,POST,OPTIONS',
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    keepHeadersOnError: false, // it would overwrite the headers of an HttpError; those of CORS are kept without it
  });
  return async (ctx, next) => {
    let isPreflight = true;
    await middleware(ctx, () => {
      isPreflight = false;
      return next();
    });
    if (!isPreflight) return;
    refuseMalformed(ctx.req);
    sendNoContent(ctx, []);
  };
}
