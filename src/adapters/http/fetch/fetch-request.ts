import type {
  CarriedRequest,
  CompleteResponse,
  Headers as Fields,
  RequestFields,
  RequestHead,
} from '../api/http.ts';
import { readBytes } from './body.ts';
import type { Connections } from './connections.ts';
import { fieldValues } from './field-values.ts';
import type { ResponseHeaders } from './response-headers.ts';

/** What a runtime knows about the connection of a request, and a `Request` does not contain. */
export interface FetchInfo {
  /** The IP address of the client, or of the last proxy. Without it, observers get none, and `trustedProxies` is ignored. */
  readonly remoteAddress?: string | undefined;
  /** The port of the client. The address and the port identify the connection, which is delayed when it ignores refusals. */
  readonly remotePort?: number | undefined;
}

export interface FetchContext {
  /** Whether each response is the last one on its connection. */
  readonly isStopping: () => boolean;
  readonly connections: Connections;
  readonly responseHeaders: ResponseHeaders;
}

/** On Deno, a signal that was read aborts after each response too, and prints a warning about this. */
const HAS_SIGNAL = !('Deno' in globalThis);

const NO_LINES: Fields = [];

export class FetchRequest implements CarriedRequest, RequestHead {
  /** For HTTP/1.0 and HTTP/2 too: the runtime has decided where the request ends. */
  readonly httpVersion = '1.1';
  readonly rawHeaders: Fields = NO_LINES;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestFields;
  /** Set when the API has handled the request. */
  response!: Response;
  readonly #request: Request;
  readonly #info: FetchInfo;
  readonly #context: FetchContext;

  constructor(request: Request, info: FetchInfo, context: FetchContext) {
    const { url, method, headers } = request;
    const start = pathStart(url);
    const fragment = url.indexOf('#', start);
    const end = fragment === -1 ? url.length : fragment;
    const mark = url.indexOf('?', start);
    const hasQuery = mark !== -1 && mark < end;
    this.method = method;
    this.url = url.slice(start);
    this.path = url.slice(start, hasQuery ? mark : end);
    this.query = hasQuery ? url.slice(mark + 1, end) : '';
    this.headers = fieldValues(headers, url);
    this.#request = request;
    this.#info = info;
    this.#context = context;
  }

  get head(): RequestHead {
    return this;
  }

  get scheme(): string {
    return this.#request.url.startsWith('https:') ? 'https' : 'http';
  }

  get peer(): string | undefined {
    return this.#info.remoteAddress;
  }

  /** Without the address and the port, each request counts as the only one of its connection. */
  get connection(): object {
    const { remoteAddress, remotePort } = this.#info;
    if (remoteAddress === undefined || remotePort === undefined) return this;
    return this.#context.connections.get(remoteAddress, remotePort);
  }

  get isConnected(): boolean {
    return !(HAS_SIGNAL && this.#request.signal.aborted);
  }

  readBody(): Promise<Uint8Array> {
    return readBytes(this.#request);
  }

  onClose(listener: () => void): () => void {
    const { signal } = this.#request;
    signal.addEventListener('abort', listener);
    return () => signal.removeEventListener('abort', listener);
  }

  send({ status, headers, body, length, closes }: CompleteResponse): void {
    const { isStopping, responseHeaders } = this.#context;
    const isLast = closes || isStopping();
    const fields = isLast ? [...headers, 'Connection', 'close'] : headers;
    // A `Response` with one of these statuses must not have a body, not even an empty one.
    const isEmpty = length === 0 || this.method === 'HEAD' || status === 204 || status === 304;
    const init = { status, headers: responseHeaders.from(fields) };
    this.response = new Response(isEmpty ? null : (body as string | Uint8Array<ArrayBuffer>), init);
  }
}

/** The URL of Bun is the path alone if the `Host` of the request is invalid. */
function pathStart(url: string): number {
  if (url.startsWith('/')) return 0;
  const start = url.indexOf('/', 'https://'.length);
  return start === -1 ? url.length : start;
}
