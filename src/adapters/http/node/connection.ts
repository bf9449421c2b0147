import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isFramed } from '../api/malformed.ts';
import { lingeringClose } from './lingering-close.ts';
import { ParserInput } from './parser-input.ts';

/** The maximum number of requests that a connection handles at the same time. */
const CONCURRENT_REQUESTS = 16;

export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Limits the number of requests in progress, and decides which response is the last one of the connection. */
export class Connection {
  readonly socket: Socket;
  readonly input: ParserInput;
  /**
   * The response to the newest request. `undefined` once both are complete: V8 would otherwise copy the last requests of
   * thousands of idle connections again and again.
   */
  newest: ServerResponse | undefined;
  /** Whether the connection is closed after the newest response. If true, further requests are ignored. */
  isClosing = false;
  /** Only the first error that Node.js reports gets a response. */
  isRefused = false;
  readonly #handle: HandleRequest;
  readonly #onFlood: () => void;
  /** Node.js finishes the responses in this order, which is the order of their requests. */
  readonly #unfinished: ServerResponse[] = [];
  /** Starts the newest of the unfinished requests. The others are in progress. */
  readonly #queue: (() => void)[] = [];
  #ignored = 0;

  /** @param onFlood called when the client sends more requests at once than the connection handles at the same time */
  constructor(socket: Socket, handle: HandleRequest, nextSlice: () => Promise<void>, onFlood: () => void) {
    this.socket = socket;
    this.#handle = handle;
    this.#onFlood = onFlood;
    this.input = new ParserInput(socket, nextSlice, () => this.#mayParse());
    // Node.js calls `destroySoon` after the last response of a connection. The rest of a request body is then discarded.
    socket.destroySoon = () => {
      if (socket.writableEnded) return;
      this.isClosing = true;
      this.isRefused = true;
      this.newest?.req.resume();
      lingeringClose(socket);
      socket.resume();
    };
  }

  get beforeNewest(): ServerResponse | undefined {
    return this.#unfinished.at(-2);
  }

  get isIdle(): boolean {
    return this.#unfinished.length === 0;
  }

  get isHolding(): boolean {
    return this.socket.readableLength > 0;
  }

  /**
   * Handles a request immediately, or queues it. If `isLast` is true, closes the connection after the response. Ignores
   * requests after the last one. Node.js keeps the objects of ignored requests, so no further bytes are parsed.
   */
  acceptRequest(req: IncomingMessage, res: ServerResponse, isLast: boolean): void {
    if (this.#hasLastRequest) {
      this.#ignored += 1;
      this.input.slice();
      if (this.#ignored > CONCURRENT_REQUESTS) this.#onFlood();
      return;
    }
    this.newest = res;
    // Bytes after an upgrade request need not be HTTP. Bytes after a request with an ambiguous end may belong to it.
    if (isLast || !res.shouldKeepAlive || req.headers.upgrade !== undefined || !isFramed(req)) {
      this.closeAfterNewest();
    }
    this.#unfinished.push(res);
    res.on('finish', this.#onFinish);
    if (this.#unfinished.length > CONCURRENT_REQUESTS) {
      // A queued request keeps its own asynchronous context, in which OpenTelemetry finds its span.
      this.#queue.push(AsyncResource.bind(() => void this.#handle(req, res)));
      this.#onFlood();
      return;
    }
    void this.#handle(req, res);
  }

  /** Closes the connection after the newest response, if its head was not sent yet. */
  closeAfterNewest(): void {
    if (this.newest === undefined || this.newest.headersSent) return;
    this.newest.shouldKeepAlive = false;
    this.isClosing = true;
  }

  readonly #onFinish = (): void => {
    this.#unfinished.shift();
    if (this.#unfinished.length === 0 && this.newest?.req.complete) this.newest = undefined;
    this.#queue.shift()?.();
    this.input.parseSlices();
  };

  get #hasLastRequest(): boolean {
    return this.isClosing || this.newest?.shouldKeepAlive === false;
  }

  /** Node.js pauses its parser while the client does not read responses, and while the body of a request is not read. */
  #mayParse(): boolean {
    const req = this.newest?.req;
    const isUnread = req?.complete === false && req.readableLength >= req.readableHighWaterMark;
    return (
      !isUnread &&
      this.#ignored === 0 &&
      this.#unfinished.length < CONCURRENT_REQUESTS &&
      !this.socket.writableNeedDrain &&
      this.#unfinished.every(({ writableLength }) => writableLength === 0)
    );
  }
}
