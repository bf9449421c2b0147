/** A request and a response like those of `node:http`, with which a Koa app can handle a `Request`. */

import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { TOO_SLOW } from './errors.ts';

/** How long a client may take to send the body of a request, in milliseconds. Not every runtime has such a limit itself. */
const BODY_TIMEOUT = 30_000;

export class FetchRequest extends Readable {
  readonly method: string;
  url: string;
  readonly headers: Record<string, string>;
  /** The API looks for repeated fields here. The array is empty, because the runtime has already joined their values. */
  readonly rawHeaders: readonly string[] = [];
  /** The real version can differ. It matters only for finding the end of the request, which the runtime has found. */
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly socket: { readonly remoteAddress: string; readonly encrypted: boolean };
  readonly #request: Request;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(request: Request, remoteAddress: string) {
    super({ highWaterMark: 0 });
    const { body, headers, method, url } = request;
    // On Bun, the URL is a path without a host if `Host` is invalid.
    const { protocol, host, pathname, search } = new URL(url, 'http://localhost');
    this.#request = request;
    this.method = method;
    this.url = pathname + search;
    this.socket = { remoteAddress, encrypted: protocol === 'https:' };
    // Over HTTP/2, `headers` has no `host`, so it is taken from the URL.
    this.headers = { host, ...Object.fromEntries(headers) };
    if (body !== null && this.headers['content-length'] === undefined)
      this.headers['transfer-encoding'] ??= 'chunked';
    // If the host program has already read or locked the body, sets `readableDidRead`, so that the API detects this.
    if (request.bodyUsed || body?.locked) {
      this.push(' ');
      this.read();
    }
  }

  override async _read(): Promise<void> {
    this.#timer ??= setTimeout(() => this.destroy(TOO_SLOW), BODY_TIMEOUT);
    try {
      this.#reader ??= this.#request.body?.getReader();
      const { value = null } = (await this.#reader?.read()) ?? {};
      this.push(value);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    (this.#reader ?? this.#request.body)?.cancel().catch(() => {});
    // As in `node:http`, no error is emitted without a listener, because the error would end the process.
    callback(this.listenerCount('error') > 0 ? error : null);
  }
}

type Value = number | string | readonly string[];

export class FetchResponse extends Writable {
  statusCode = 200;
  statusMessage = '';
  shouldKeepAlive = true;
  headersSent = false;
  readonly #send: (response: Response) => void;
  readonly #method: string;
  readonly #fields = new Map<string, Value>();
  #body: WritableStreamDefaultWriter<Uint8Array> | undefined;

  constructor(method: string, send: (response: Response) => void) {
    super();
    this.#method = method;
    this.#send = send;
  }

  setHeader(name: string, value: Value): this {
    validateHeaderName(name);
    for (const each of [value].flat()) validateHeaderValue(name, String(each));
    this.#fields.set(name.toLowerCase(), value);
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    return this.setHeader(name, [this.getHeader(name) ?? [], value].flat().map(String));
  }

  getHeader(name: string): Value | undefined {
    return this.#fields.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#fields.delete(name.toLowerCase());
  }

  getHeaderNames(): string[] {
    return [...this.#fields.keys()];
  }

  getHeaders(): Record<string, Value> {
    return Object.fromEntries(this.#fields);
  }

  /** A caller can pass a message, fields, or both. */
  writeHead(status: number, ...given: (string | Readonly<Record<string, Value>>)[]): this {
    this.statusCode = status;
    for (const each of given) {
      if (typeof each === 'string') this.statusMessage = each;
      else for (const field of Object.entries(each)) this.setHeader(...field);
    }
    this.flushHeaders();
    return this;
  }

  flushHeaders(): void {
    if (this.headersSent) return;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#body = writable.getWriter();
    // This promise rejects when the client stops reading.
    this.#body.closed.catch((reason) => this.destroy(reason));
    this.#respond(readable);
  }

  /** Koa passes most bodies to this method as a whole, so they need no stream. */
  override end(...given: unknown[]): this {
    if (this.headersSent) return super.end(...(given as []));
    const [body] = given;
    const isEmpty = body === undefined || body === null || typeof body === 'function';
    this.#respond(isEmpty ? null : Buffer.from(body as string));
    return super.end(...(given.filter((each) => typeof each === 'function') as []));
  }

  override _write(chunk: Uint8Array, _encoding: unknown, callback: (error?: Error) => void): void {
    this.flushHeaders();
    const written = this.#body?.write(chunk) ?? Promise.resolve();
    written.then(() => callback(), callback);
  }

  override _final(callback: () => void): void {
    this.#body?.close().catch(() => {});
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.writableFinished) this.#body?.abort(error).catch(() => {});
    // As in `node:http`, only `close` is emitted: an error without a listener would end the process.
    callback(null);
  }

  #respond(body: Buffer<ArrayBuffer> | ReadableStream | null): void {
    const { statusCode: status, statusMessage: statusText } = this;
    if (!this.shouldKeepAlive) this.setHeader('Connection', 'close');
    const headers = new Headers();
    for (const [name, value] of this.#fields) {
      for (const each of [value].flat()) headers.append(name, String(each));
    }
    // With one of these statuses, a `Response` must not even have an empty body.
    const isEmpty = this.#method === 'HEAD' || [204, 205, 304].includes(status);
    const response = new Response(isEmpty ? null : body, { status, statusText, headers });
    if (isEmpty) this.#body = undefined;
    this.headersSent = true;
    this.#send(response);
  }
}
