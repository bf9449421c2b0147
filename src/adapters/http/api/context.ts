/** What the stages of the API use of Koa. Koa's own context has all of it, and so has the one of `fetch/`. */

import type { ApiKeyHolder } from '../../../application/ports/api-key-verifier.ts';

/** What the API knows about a request, in `ctx.state.animalStore`. */
export interface RequestState {
  readonly requestId: string;
  /** The path of the request target. Empty if the request target is not a URL. */
  readonly path: string;
  /** The value of `performance.now()` when the head of the request had arrived. */
  readonly startedAt: number;
  /** The key holder; `undefined` before the API key is checked, and if the path needs none. */
  holder: ApiKeyHolder | undefined;
  /** The id of the caller, which all keys of a series of rotated API keys share; `undefined` without a valid API key. */
  readonly callerId: string | undefined;
  /** The template of the path, such as `/v1/pets/{petId}`; `undefined` before the router has found it. */
  readonly route: string | undefined;
  /** The address of the client; `undefined` when it is unknown. */
  readonly address: string | undefined;
  /** The scheme of the request URL, `http` or `https`, also behind a trusted proxy. */
  readonly scheme: string;
  /** The `traceparent` of the request, if it is valid and contains no part of an API key. */
  readonly traceparent: string | undefined;
  /** Whether other requests waited for too long when this one arrived. */
  isTooBusy: boolean;
}

/** The values of header fields by lower-case name. Node.js joins the values of each repeated field that the API reads. */
export type RequestFields = Readonly<Record<string, string | string[] | undefined>>;

/** The request as the server received it. `IncomingMessage` of Node.js is assignable to this type. */
export interface RawRequest {
  readonly httpVersion: string;
  readonly headers: RequestFields;
  /** All header field lines as received: name, value, name, value. Empty if the runtime joins repeated fields. */
  readonly rawHeaders: readonly string[];
  /** Set by Express, in which Koa does not know where the API is mounted. */
  readonly originalUrl?: string | undefined;
  /** The HTTP/2 stream; `undefined` for a request over HTTP/1. */
  readonly stream?: unknown;
}

/** A route whose path matches, as @koa/router describes it. */
export interface MatchedRoute {
  /** The path template, such as `/v1/pets/{petId}`. */
  readonly name?: string | undefined;
  readonly methods: readonly string[];
}

export interface Context {
  readonly method: string;
  /** The request target (RFC 9112, section 3.2). */
  readonly url: string;
  /** The request target before a framework has removed the part where the API is mounted. */
  readonly originalUrl?: string;
  readonly path: string;
  readonly querystring: string;
  readonly protocol: string;
  readonly headers: RequestFields;
  /** The peer is unknown on a Unix domain socket, and on runtimes that do not tell it. */
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly req: RawRequest;
  readonly res: {
    /** Whether the client has disconnected before the response was sent. */
    readonly destroyed: boolean;
    /** Set to `false` to close the connection after the response. */
    shouldKeepAlive: boolean;
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
  /** Calls the listener when the response has been passed to the runtime. A context of ordinary Koa lacks it. */
  onceSent?(listener: () => void): void;
}

export type Next = () => Promise<unknown>;

/** A Koa middleware: what a stage does before and after the rest of the list stands in one function. */
export type Stage = (ctx: Context, next: Next) => unknown;

/** The paths that need an API key, `/v1` and all below it, are those that belong to the API in every app. */
export function needsApiKey(path: string): boolean {
  return path.startsWith('/v1') && (path.length === 3 || path[3] === '/');
}

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

export const METRICS_PATH = '/metrics';

export function fieldOf({ headers }: Pick<Context, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Counts the lines of a field, whose name is in lower case. `headers` can have only the first value, as of `Host`. */
export function countFieldLines(ctx: Context, name: string): number {
  const { rawHeaders } = ctx.req;
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times;
}
