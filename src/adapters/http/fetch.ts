/** The entry point `animal-store/fetch`: the HTTP API of an {@link AnimalStore}, as a function from a `Request` to a `Response`. */

import compose from 'koa-compose';
import { createApi } from './app.ts';
import { bodyRead, type ReadBytes, readChunks } from './body.ts';
import type { Context, Stage } from './context.ts';
import type { HttpOptions, HttpStore } from './options.ts';

export type { RequestObserver, RequestOutcome } from '../../application/ports/request-observer.ts';
export type { HttpOptions, HttpStore, KeyVerifier, MetricsText, RateLimit } from './portable.ts';

/** What a runtime knows about the connection of a request, and a `Request` does not contain. */
export interface FetchInfo {
  /** The IP address of the client, or of the last proxy. */
  readonly remoteAddress?: string | undefined;
  /** The port of the client, which is not read. */
  readonly remotePort?: number | undefined;
}

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/**
 * Creates the API as a function from a `Request` to the promise of a `Response`, for `Bun.serve`, `Deno.serve`, and
 * frameworks that use these classes. The function responds to every path, and must be called before anything reads the
 * body of the request. The caller closes the store.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { createFetchHandler } from 'animal-store/fetch';
 *
 * await using store = await createAnimalStore({ database: 'memory:' });
 * const handle = createFetchHandler(store);
 * const response = await handle(new Request('http://localhost/v1/pets'));
 * console.log(response.status); // 401
 * ```
 */
export function createFetchHandler(store: HttpStore, options: HttpOptions = {}): FetchHandler {
  const { stages } = createApi(store, options, readBytes);
  const run = compose(stages as Stage[]) as (ctx: Context) => Promise<void>;
  return async (request, info = {}) => {
    const ctx = new FetchContext(request, info, options.trustedProxies);
    await run(ctx);
    return ctx.respond();
  };
}

const readBytes: ReadBytes = async (ctx) => {
  const { original } = ctx as FetchContext;
  if (original.bodyUsed) throw bodyRead();
  return original.body === null ? new Uint8Array() : readChunks(original.body);
};

/** As in Koa, and a `Response` with one of these statuses must not have a body, not even an empty one. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

type FieldValue = string | number | readonly string[];

/** The media type that Koa gives to a body. */
function typeOf(body: unknown): string {
  if (body instanceof Uint8Array) return 'application/octet-stream';
  if (typeof body !== 'string') return 'application/json; charset=utf-8';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

/** On Deno, a signal that was read aborts after each response too, and prints a warning about this. */
const HAS_SIGNAL = !('Deno' in globalThis);

/**
 * A Koa context over a `Request`, with what ordinary middleware uses of Koa. It lacks `app`, `cookies`, `redirect`, `assert`,
 * `is`, `accepts`, bodies that are streams, and the setters of `type`, `length` and `etag`; `req` and `res` have only what this
 * API reads.
 */
class FetchContext implements Context {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly querystring: string;
  readonly protocol: string;
  readonly ip: string;
  readonly req: Context['req'];
  readonly res: Context['res'];
  readonly request: Context['request'] = {};
  readonly response = { get: (name: string): string | undefined => this.#fields.get(name) ?? undefined };
  readonly state = {} as Context['state'];
  readonly original: Request;
  params: Readonly<Record<string, string>> = {};
  matched: Context['matched'];
  #status: number | undefined;
  #body: unknown;
  readonly #fields = new Headers();
  #sent: (() => void) | undefined;

  constructor(original: Request, { remoteAddress = '' }: FetchInfo, proxies = 0) {
    const { headers, method, signal, url } = original;
    // The URL of Bun is the path alone if the `Host` is invalid.
    const { protocol, host, pathname, search } = new URL(url, 'http://localhost');
    const forwarded = (name: string): string[] =>
      proxies > 0 ? (headers.get(name)?.split(/ *, */) ?? []) : [];
    this.original = original;
    this.method = method;
    this.url = pathname + search;
    this.path = pathname;
    this.querystring = search.slice(1);
    this.protocol = (forwarded('x-forwarded-proto')[0] ?? protocol.slice(0, -1)).toLowerCase();
    this.ip = forwarded('x-forwarded-for').slice(-proxies)[0] ?? remoteAddress;
    this.req = {
      // For HTTP/1.0 and HTTP/2 too: the runtime has decided where the request ends.
      httpVersion: '1.1',
      // Over HTTP/2, the host and the port are in no field.
      headers: { host, ...Object.fromEntries(headers) },
      rawHeaders: [],
    };
    this.res = {
      shouldKeepAlive: true,
      get writableFinished() {
        return !(HAS_SIGNAL && signal.aborted);
      },
      once: (_event, listener) => {
        this.#sent = listener;
      },
    };
  }

  get headers(): Context['req']['headers'] {
    return this.req.headers;
  }

  get status(): number {
    return this.#status ?? 404;
  }

  set status(status: number) {
    if (!(status >= 200 && status <= 599)) throw new RangeError(`invalid status code: ${status}`);
    this.#status = status;
  }

  get body(): unknown {
    return this.#body;
  }

  set body(body: unknown) {
    this.#body = body;
    const isAbsent = body === null || body === undefined;
    if (isAbsent && !WITHOUT_BODY.has(this.status)) this.#status = 204;
    this.#status ??= 200;
    if (!isAbsent && !this.#fields.has('Content-Type')) this.set('Content-Type', typeOf(body));
  }

  get(name: string): string {
    return this.original.headers.get(name) ?? '';
  }

  set(field: string | Readonly<Record<string, FieldValue>>, value: FieldValue = ''): void {
    const fields = typeof field === 'string' ? { [field]: value } : field;
    for (const [name, values] of Object.entries(fields)) {
      this.remove(name);
      this.append(name, values);
    }
  }

  append(name: string, value: FieldValue): void {
    for (const each of [value].flat()) this.#fields.append(name, String(each));
  }

  remove(name: string): void {
    this.#fields.delete(name);
  }

  vary(name: string): void {
    this.append('Vary', name);
  }

  /** As of http-errors: the message is shown for a status below 500. */
  throw(status: number, message = ''): never {
    throw Object.assign(new Error(message), { status, expose: status < 500 });
  }

  /** Returns the response that the stages have set, and tells them that it is sent. */
  respond(): Response {
    const { status } = this;
    const body = (this.#body ?? '') as string | Uint8Array<ArrayBuffer>;
    if (!this.res.shouldKeepAlive) this.set('Connection', 'close');
    const isEmpty = WITHOUT_BODY.has(status);
    if (isEmpty) this.remove('Content-Type');
    else this.set('Content-Length', typeof body === 'string' ? Buffer.byteLength(body) : body.length);
    const hasBody = !isEmpty && this.method !== 'HEAD' && body.length > 0;
    const response = new Response(hasBody ? body : null, { status, headers: this.#fields });
    this.#sent?.();
    return response;
  }
}
