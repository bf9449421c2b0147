/** What the stages of the API use of a Koa context. Koa's own context has it, and so has the one of the fetch handler. */

import type { ApiKeyHolder } from '../../application/ports/api-key-verifier.ts';

/** What the API knows about a request, in `ctx.state.animalStore`. */
export interface RequestState {
  readonly requestId: string;
  /** The path of the request target. Empty if the request target is not a URL. */
  readonly path: string;
  /** The key holder; `undefined` before the API key is checked, and if the path needs none. */
  holder: ApiKeyHolder | undefined;
  /** The error that caused the response with status 500. */
  failure?: unknown;
}

/** The values of header fields by lower-case name. */
export type RequestFields = Readonly<Record<string, string | string[] | undefined>>;

/** The request as the server received it. `IncomingMessage` of Node.js is assignable to this type. */
interface RawRequest {
  readonly httpVersion: string;
  readonly headers: RequestFields;
  /** All header field lines as received: name, value, name, value. Empty if the runtime joins repeated fields. */
  readonly rawHeaders: readonly string[];
  /** Set by Express, in which Koa does not know where the API is mounted. */
  readonly originalUrl?: string | undefined;
  /** The HTTP/2 stream; `undefined` for a request over HTTP/1. */
  readonly stream?: unknown;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** A route whose path matches, as @koa/router describes it. */
interface MatchedRoute {
  /** The path template, such as `/v1/pets/{petId}`. */
  readonly name?: string | undefined;
  readonly methods: readonly string[];
}

export interface Context {
  /** The Koa app; `undefined` over the fetch handler. */
  readonly app?: { emit(event: 'error', error: unknown, ctx: Context): unknown } | undefined;
  readonly method: string;
  /** The request target (RFC 9112, section 3.2). */
  readonly url: string;
  /** The request target before a framework has removed the part where the API is mounted. */
  readonly originalUrl?: string;
  readonly path: string;
  readonly querystring: string;
  readonly protocol: string;
  readonly ip: string;
  readonly headers: RequestFields;
  readonly req: RawRequest;
  readonly res: {
    /** Set to `false` to close the connection after the response. */
    shouldKeepAlive: boolean;
    /** Whether the whole response was sent; `undefined` if the runtime does not tell it. */
    readonly writableFinished?: boolean;
    once(event: 'close', listener: () => void): unknown;
  };
  /** With `object`, Koa's own type is assignable too, which has neither member until a parser of bodies declares them. */
  readonly request: object & { body?: unknown; rawBody?: unknown };
  readonly state: { animalStore: RequestState };
  /** Set by the router. */
  params?: Readonly<Record<string, string>>;
  matched?: readonly MatchedRoute[] | undefined;
  status: number;
  body: unknown;
  set(field: string, value: string): void;
  set(fields: Readonly<Record<string, string>>): void;
  remove(field: string): void;
  vary(field: string): void;
}

export type Next = () => Promise<unknown>;

/** A Koa middleware. */
export type Stage = (ctx: Context, next: Next) => unknown;

export const METRICS_PATH = '/metrics';

/** The paths that need an API key, `/v1` and all below it, are those that belong to the API in every app. */
export function needsApiKey(path: string): boolean {
  return path.startsWith('/v1') && (path.length === 3 || path[3] === '/');
}

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

/** The id of the caller, which all keys of a series of rotated API keys share. */
export function callerOf({ state }: Context): string | undefined {
  const { holder } = state.animalStore;
  return holder?.callerId ?? holder?.id;
}

export function fieldOf({ req }: Pick<Context, 'req'>, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a field, whose name is in lower case, has several lines. `headers` can have only the first value, as of `Host`. */
export function isRepeated({ req }: Context, name: string): boolean {
  let times = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const given = req.rawHeaders[index] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times > 1;
}
