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
  /**
   * The IP address of the client, or of the last proxy. Without it, the address of the client is unknown to observers, and
   * `trustedProxies` has no effect.
   */
  readonly remoteAddress?: string | undefined;
  /**
   * The port of the client. The address and the port identify the connection, whose responses are delayed when it ignores
   * refusals.
   */
  readonly remotePort?: number | undefined;
}

/** What a handler and its server tell each other. */
export interface HandlerState {
  /** The number of requests that have no response yet. */
  requestsInFlight: number;
  /** Whether each response is the last one on its connection, because the server is stopping. */
  isStopping: boolean;
}

/** What all requests to a handler have in common. */
export interface FetchContext {
  readonly state: HandlerState;
  readonly connections: Connections;
  readonly responseHeaders: ResponseHeaders;
}

/**
 * Whether requests can wait for each other. The Workers of Cloudflare handle each request in a context of its own, and end its
 * timers with the response, so that no request may wait for a turn that another request has begun.
 */
const HAS_TURNS = globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

/**
 * Whether the signal of a request shows that the client has disconnected. On Deno, a signal that was read aborts after each
 * response too, prints a warning about this, and learns nothing of what happened before it was read.
 */
const HAS_SIGNAL = !('Deno' in globalThis);

/** The index from which the path of an absolute `http` or `https` URL is searched. */
const AUTHORITY_START = 'https://'.length;

/** A `Request` does not show how often a field was repeated: its values are joined. */
const NO_LINES: Fields = [];

/** Adapts a `Request` to the request type of the API. */
export class FetchRequest implements CarriedRequest, RequestHead {
  /** The runtime has decided where the request ends. The value is the same for HTTP/1.0 and for HTTP/2. */
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
    context.state.requestsInFlight += 1;
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
  get connection(): object | undefined {
    if (!HAS_TURNS) return undefined;
    const { remoteAddress, remotePort } = this.#info;
    if (remoteAddress === undefined || remotePort === undefined) return this;
    return this.#context.connections.get(remoteAddress, remotePort);
  }

  readBody(): Promise<Uint8Array> {
    return readBytes(this.#request);
  }

  onClose(listener: () => void): () => void {
    const { signal } = this.#request;
    signal.addEventListener('abort', listener);
    return () => signal.removeEventListener('abort', listener);
  }

  send({ status, headers, body, length, closes }: CompleteResponse): boolean {
    const { state, responseHeaders } = this.#context;
    state.requestsInFlight -= 1;
    const isLast = closes || state.isStopping;
    const fields = isLast ? [...headers, 'Connection', 'close'] : headers;
    // A `Response` with one of these statuses must not have a body, not even an empty one.
    const isEmpty = length === 0 || this.method === 'HEAD' || status === 204 || status === 304;
    const init = { status, headers: responseHeaders.from(fields) };
    this.response = new Response(isEmpty ? null : (body as string | Uint8Array<ArrayBuffer>), init);
    return !(HAS_SIGNAL && this.#request.signal.aborted);
  }
}

/** Returns where the path of a URL starts. The URL of Bun is the path alone if the `Host` of the request is invalid. */
function pathStart(url: string): number {
  if (url.startsWith('/')) return 0;
  const start = url.indexOf('/', AUTHORITY_START);
  return start === -1 ? url.length : start;
}
