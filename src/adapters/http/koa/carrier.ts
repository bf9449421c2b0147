import type { IncomingMessage } from 'node:http';
import Router, { type RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import type { Carrier } from '../api/app.ts';
import type { Context as ApiContext, Stage } from '../api/context.ts';
import {
  BODY_LIMIT,
  bodyIncomplete,
  bodyRead,
  bodyTooLarge,
  type ReadBytes,
  readChunks,
} from '../api/json-body.ts';
import type { CreateRouter } from '../api/routes.ts';

/** Routes with @koa/router. */
const createRouter: CreateRouter = (endpoints) => {
  const router = new Router({ sensitive: true, strict: true });
  for (const { path, method, handlers } of endpoints) {
    // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const middleware = [...handlers] as RouterMiddleware[];
    if (method === undefined) router.all(path, pattern, ...middleware);
    else if (method === 'GET') router.get(path, pattern, ...middleware);
    else if (method === 'POST') router.post(path, pattern, ...middleware);
    else method satisfies never;
  }
  const route = router.routes() as Stage;
  return (ctx, next) => {
    // The router would take `ctx.path`, which an app that mounts the API can have changed.
    Object.assign(ctx, { newRouterPath: ctx.state.animalStore.path });
    return route(ctx, next);
  };
};

/**
 * Reads the body as bytes: koa-bodyparser would round large integers in JSON, and replace invalid UTF-8 in text. The cast
 * is necessary because the type `Options` lacks `encoding`.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

/** Most bodies arrive together with the head. */
const readBytes: ReadBytes = (apiContext) => {
  const ctx = apiContext as ApiContext & Context;
  const { req, res, request } = ctx;
  const read = readByHost(ctx);
  if (read !== undefined) return read;
  const length = Number(req.headers['content-length']);
  // An HTTP/1.0 client does not know interim responses (RFC 9110, section 10.1.1).
  if (req.headers.expect !== undefined && req.httpVersion !== '1.0') {
    if (length > BODY_LIMIT) throw bodyTooLarge();
    res.writeContinue();
  }
  if (length > 0 && length <= BODY_LIMIT && req.readableLength === length) {
    const body: Uint8Array = req.read(length);
    // Without this, the stream would never end, and the parser would keep the request until the next one.
    req.resume();
    return body;
  }
  // The parser ignores the body of a request over HTTP/2 that has no length, and of one that seems to be parsed.
  return req.httpVersionMajor >= 2 || request.body !== undefined
    ? readChunks(req.iterator({ destroyOnReturn: false }))
    : parsed(ctx);
};

async function parsed(ctx: Context): Promise<Uint8Array> {
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw (error as { status?: number }).status === 413 ? bodyTooLarge() : bodyIncomplete();
  }
  const body: unknown = ctx.request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
}

/** Returns the bytes that a body parser of the host has kept. A parsed object is not exact. */
function readByHost({ req, request }: Context): Uint8Array | undefined {
  const { rawBody = request.rawBody } = req as IncomingMessage & { rawBody?: unknown };
  if (typeof rawBody === 'string' || rawBody instanceof Uint8Array) {
    const bytes = typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody;
    if (bytes.length > BODY_LIMIT) throw bodyTooLarge();
    return bytes;
  }
  const isRead = req.readableEncoding !== null || (req.readableDidRead && !req.destroyed);
  if (isRead || req.readableEnded) throw bodyRead();
  return undefined;
}

/** What the API needs of Koa: @koa/router and koa-bodyparser. */
export const KOA_CARRIER: Carrier = { createRouter, readBytes };
