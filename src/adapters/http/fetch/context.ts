import type { Context, MatchedRoute, RawRequest, RequestFields } from '../api/context.ts';

type FieldValue = string | number | readonly string[];

/** What a runtime knows about the connection of a request, and a `Request` does not contain. */
export interface FetchInfo {
  /** The IP address of the client, or of the last proxy. Without it, observers get none, and `trustedProxies` is ignored. */
  readonly remoteAddress?: string | undefined;
  /** The port of the client, which is not read. */
  readonly remotePort?: number | undefined;
}

/** On Deno, a signal that was read aborts after each response too, and prints a warning about this. */
const HAS_SIGNAL = !('Deno' in globalThis);

/** A context with the names of Koa over a `Request`. */
export class FetchContext implements Context, RawRequest {
  /** For HTTP/1.0 and HTTP/2 too: the runtime has decided where the request ends. */
  readonly httpVersion = '1.1';
  readonly rawHeaders: readonly string[] = [];
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly querystring: string;
  readonly headers: RequestFields;
  readonly socket: FetchInfo;
  readonly request: Context['request'] = {};
  readonly state = {} as Context['state'];
  readonly res: Context['res'];
  params: Readonly<Record<string, string>> = {};
  matched: readonly MatchedRoute[] | undefined;
  status = 404;
  body: unknown;
  readonly original: Request;
  /** Called when the response has been created. */
  sent: (() => void) | undefined;
  /** By name in lower case. */
  readonly #fields = new Map<string, FieldValue>();

  constructor(request: Request, info: FetchInfo) {
    const { url, method } = request;
    const start = pathStart(url);
    const fragment = url.indexOf('#', start);
    const end = fragment === -1 ? url.length : fragment;
    const mark = url.indexOf('?', start);
    const hasQuery = mark !== -1 && mark < end;
    this.method = method;
    this.url = url.slice(start);
    this.path = url.slice(start, hasQuery ? mark : end);
    this.querystring = hasQuery ? url.slice(mark + 1, end) : '';
    this.headers = fieldsOf(request);
    this.socket = info;
    this.original = request;
    this.res = {
      shouldKeepAlive: true,
      get destroyed() {
        return HAS_SIGNAL && request.signal.aborted;
      },
    };
  }

  get req(): RawRequest {
    return this;
  }

  get protocol(): string {
    return this.original.url.startsWith('https:') ? 'https' : 'http';
  }

  get(name: string): string {
    return this.original.headers.get(name) ?? '';
  }

  set(field: string | Readonly<Record<string, FieldValue>>, value: FieldValue = ''): void {
    if (typeof field === 'string') this.#fields.set(field.toLowerCase(), value);
    else for (const name in field) this.set(name, field[name]);
  }

  append(name: string, value: FieldValue): void {
    this.set(name, [this.#fields.get(name.toLowerCase()) ?? [], value].flat().map(String));
  }

  remove(name: string): void {
    this.#fields.delete(name.toLowerCase());
  }

  vary(name: string): void {
    const given = this.#fields.get('vary');
    this.set('Vary', given === undefined ? name : `${given}, ${name}`);
  }

  onceSent(listener: () => void): void {
    this.sent = listener;
  }

  /** Returns the response that the stages of the API have set. */
  response(): Response {
    const { status, method } = this;
    const hasBody = status !== 204 && status !== 304;
    const body =
      typeof this.body === 'string' || this.body instanceof Uint8Array ? this.body : jsonOf(this.body);
    if (hasBody) {
      if (typeof this.body === 'object' && !this.#fields.has('content-type') && body !== '') {
        this.set('Content-Type', 'application/json');
      }
      this.set('Content-Length', typeof body === 'string' ? Buffer.byteLength(body) : body.length);
    }
    if (!this.res.shouldKeepAlive) this.set('Connection', 'close');
    // Runtimes take an object faster than they fill a `Headers` field by field.
    const headers: Record<string, string> = {};
    for (const [name, value] of this.#fields) if (typeof value !== 'object') headers[name] = String(value);
    // A `Response` with one of these statuses must not have a body, not even an empty one.
    const isEmpty = !hasBody || method === 'HEAD' || body.length === 0;
    const init = { status, headers };
    const response = new Response(isEmpty ? null : (body as string | Uint8Array<ArrayBuffer>), init);
    for (const [name, values] of this.#fields) {
      if (typeof values === 'object') for (const value of values) response.headers.append(name, value);
    }
    return response;
  }
}

/** Returns a body that a middleware of a user has set as JSON, as Koa does. */
function jsonOf(body: unknown): string {
  return body === undefined || body === null ? '' : JSON.stringify(body);
}

/** The URL of Bun is the path alone if the `Host` of the request is invalid. */
function pathStart(url: string): number {
  if (url.startsWith('/')) return 0;
  const start = url.indexOf('/', 'https://'.length);
  return start === -1 ? url.length : start;
}

/** The fields of a request by name, as in Koa. Each is looked up when the API reads it, because it reads few of them. */
function fieldsOf({ headers, url }: Request): RequestFields {
  const get = (_: object, name: string | symbol): string | undefined => {
    if (typeof name === 'symbol') return undefined;
    return headers.get(name) ?? (name === 'host' ? authorityOf(url) : undefined);
  };
  return new Proxy({}, { get });
}

/** Over HTTP/2, the host and the port are in no field. */
function authorityOf(url: string): string | undefined {
  return url.split('/', 3)[2];
}
