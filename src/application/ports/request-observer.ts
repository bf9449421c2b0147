/** A request and its response, without the API key and without the bodies. */
export interface RequestOutcome {
  readonly method: string;
  /**
   * The path template of the route, such as `/v1/pets/{petId}`; `undefined` when no route matched, or when the request was refused
   * before routing, for example with 401.
   */
  readonly route?: string | undefined;
  /**
   * If `route` is `undefined`, the first 200 characters of the path, without the query. Characters other than visible ASCII are
   * percent-encoded. The path is masked when it may contain a part of an API key.
   */
  readonly path?: string | undefined;
  readonly status: number;
  /** The time from the arrival of the request headers until the response is ready to be sent, in milliseconds. */
  readonly ms: number;
  readonly requestId: string;
  /** The id of the API key; `undefined` when the request required no API key, or had no valid API key. */
  readonly keyId?: string | undefined;
  /** The name of the API key. Control characters in it are not escaped. */
  readonly keyName?: string | undefined;
  /** The IP address of the client; `undefined` when it is unknown, for example on a Unix domain socket. */
  readonly address: string | undefined;
  /** Whether the connection broke before the response was written. A connection that is half closed is not broken. */
  readonly aborted?: true | undefined;
  /** The valid `traceparent` of the request (W3C Trace Context, version 00), unless it contains a part of an API key. */
  readonly traceparent?: string | undefined;
}

/** A request observer is notified of responses, for example to log or to count them. A method must not throw. */
export interface RequestObserver {
  /** Called when the response has been written or the connection has broken, whichever is first. */
  onRequest?(request: RequestOutcome): void;
  /** Called with the error that caused a response with status 500 or above. The error is not sent to the client. */
  onError?(error: unknown, requestId: string, address?: string, traceparent?: string): void;
  /** Like `Observer.onFailure`, for work of the server, such as accepting a connection. */
  onFailure?(work: string, error: unknown): void;
}
