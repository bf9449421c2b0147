/** The request and response types of the API, which are independent of HTTP frameworks such as Koa. */

/** Header fields as a flat array: name, value, name, value. */
export type Headers = readonly string[];

export const REQUEST_FIELDS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'content-encoding',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'traceparent',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-request-id',
] as const;

/** The values of header fields by lower-case name. Repeated fields are joined, as Node.js joins all of these. */
export type RequestFields = { readonly [Name in (typeof REQUEST_FIELDS)[number]]?: string | undefined };

/** The request line and the header fields, as in an `IncomingMessage` of Node.js. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** The request target (RFC 9112, section 3.2). */
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: RequestFields;
  /** All header field lines, exactly as received. Empty if the carrier joins repeated fields. */
  readonly rawHeaders: Headers;
  /** The HTTP/2 stream; `undefined` for a request over HTTP/1. */
  readonly stream?: unknown;
}

/** A request, as a carrier passes it to the API. A carrier translates between a server or framework and the API. */
export interface CarriedRequest {
  readonly head: RequestHead;
  /** The path of the request target. Empty if the request target is not a URL. */
  readonly path: string;
  readonly query: string;
  /** `http` or `https`. */
  readonly scheme: string;
  /** The remote address of the connection; `undefined` when it is unknown, which it can become when the client disconnects. */
  readonly peer: string | undefined;
  /** Any object that represents the connection. */
  readonly connection: object;
  /** Whether the client has not disconnected yet. */
  readonly isConnected: boolean;
  /**
   * Returns the whole body if it has already arrived, and otherwise a promise. Throws or rejects with
   * `payload_too_large` when the body is too large, and with `invalid_request` when the body ends early.
   */
  readBody(): Uint8Array | Promise<Uint8Array>;
  /** Calls the listener when the client has disconnected or the response is finished. Returns what removes the listener. */
  onClose(listener: () => void): () => void;
  /** Sends the response, unless the client has disconnected. */
  send(response: CompleteResponse): void;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** A string is sent in UTF-8. */
  readonly body: string | Uint8Array;
  /** Whether the connection must be closed after the response, because the rest of the request is not read. */
  readonly closes?: boolean;
}

/** A response with all header fields except for `Connection` and `Date`. */
export interface CompleteResponse extends ApiResponse {
  /** The length of the body in bytes. */
  readonly length: number;
}

export interface Match {
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
}

export type Matcher = (path: string) => Match | undefined;

export type CreateMatcher = (templates: Iterable<string>) => Matcher;
