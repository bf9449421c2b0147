/** The request and response types of the API, which are independent of HTTP frameworks such as Koa. */

/** Header fields as a flat array: name, value, name, value. */
export type Headers = readonly string[];

/** The request line and the header fields. `IncomingMessage` of Node.js is assignable to this type. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** The request target (RFC 9112, section 3.2). */
  readonly url?: string | undefined;
  readonly httpVersion: string;
  /** The header fields. The keys are the field names in lower case. */
  readonly headers: {
    readonly [name: string]: string | string[] | undefined;
    readonly 'accept-encoding'?: string | string[] | undefined;
    readonly authorization?: string | undefined;
    readonly 'content-encoding'?: string | undefined;
    readonly 'content-type'?: string | undefined;
    readonly expect?: string | undefined;
    readonly host?: string | undefined;
    readonly 'idempotency-key'?: string | string[] | undefined;
    readonly 'if-none-match'?: string | undefined;
    readonly 'transfer-encoding'?: string | undefined;
  };
  /** All header field lines, exactly as received: name, value, name, value. */
  readonly rawHeaders: Headers;
  /** The HTTP/2 stream; `undefined` for a request over HTTP/1. */
  readonly stream?: unknown;
}

export interface ApiRequest {
  readonly head: RequestHead;
  /** The query of the request target, without the question mark. */
  readonly query: string;
  /** The values of the variables in the path template, such as `petId`. The values are percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  /**
   * The scheme of the request URL: `http` or `https`. If the request comes from a trusted proxy, the scheme is taken
   * from the field `X-Forwarded-Proto`, which the proxy adds.
   */
  readonly protocol: string;
  /** The id of the caller, which all keys of a series of rotated API keys share. Empty when no API key is required. */
  readonly callerId: string;
  /**
   * Returns the media type that the client prefers (RFC 9110, section 12.5.1), or `false` if the client accepts none of
   * the types. If the client has no preference, returns the first type.
   */
  preferredType(...types: string[]): string | false;
  /**
   * Reads the whole body. Rejects with `payload_too_large` when the body is too large, and with `invalid_request` when
   * the body ends early.
   */
  readBody(): Promise<Uint8Array>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body. A string is sent in UTF-8. */
  readonly body: string | Uint8Array;
}

export type Handler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;
