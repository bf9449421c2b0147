import compose from 'koa-compose';
import type { Api, Carrier } from '../api/app.ts';
import type { Context, Stage } from '../api/context.ts';
import { BODY_LIMIT, bodyIncomplete, bodyRead, bodyTooLarge, readChunks } from '../api/json-body.ts';
import type { CreateRouter } from '../api/routes.ts';
import { respondWithError } from '../api/send-errors.ts';
import { FetchContext, type FetchInfo } from './context.ts';

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

export function createHandler({ stages, observer }: Api): FetchHandler {
  const run = compose(stages as Stage[]) as (ctx: Context) => Promise<void>;
  return async (request, info = {}) => {
    const ctx = new FetchContext(request, info);
    await run(ctx);
    let response: Response;
    try {
      response = ctx.response();
    } catch (error) {
      respondWithError(ctx, error, observer);
      response = ctx.response();
    }
    ctx.sent?.();
    return response;
  };
}

/** Routes like @koa/router, which needs `node:http`. */
const createRouter: CreateRouter = (endpoints) => {
  const routes = endpoints.map(({ path, method, handlers }) => ({
    name: path,
    pattern: patternOf(path),
    methods: method === undefined ? [] : method === 'GET' ? ['HEAD', 'GET'] : [method],
    handle: compose(handlers as Stage[]),
  }));
  return (ctx, next) => {
    const { path } = ctx.state.animalStore;
    const matched = routes.filter(({ pattern }) => pattern.test(path));
    ctx.matched = matched;
    const route = matched.find(({ methods }) => methods.length === 0 || methods.includes(ctx.method));
    if (route === undefined) return next();
    const params = Object.entries(route.pattern.exec(path)?.groups ?? {});
    ctx.params = Object.fromEntries(params.map(([name, value]) => [name, decode(value)]));
    return route.handle(ctx);
  };
};

/** Converts a path template to a pattern: `/v1/pets/{petId}` matches `/v1/pets/` and one segment, `petId`. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Decodes a segment of a path. Returns a segment that is not valid unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Reads the whole body, as `ReadBytes` describes. */
function readBytes(ctx: Context): Promise<Uint8Array> {
  const request = (ctx as FetchContext).original;
  if (request.bodyUsed) throw bodyRead();
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > BODY_LIMIT) throw bodyTooLarge();
  return length >= 0 ? readAtOnce(request, length) : readChunks(request.body ?? noChunks());
}

/** Runtimes read a body faster at once than as a stream. */
async function readAtOnce(request: Request, length: number): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await request.arrayBuffer());
  } catch {
    throw bodyIncomplete();
  }
  if (bytes.length > BODY_LIMIT) throw bodyTooLarge();
  if (bytes.length < length) throw bodyIncomplete();
  return bytes;
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}

/** What the API needs of Koa, over a `Request`. */
export const FETCH_CARRIER: Carrier = { createRouter, readBytes };
