/**
 * A client connection of the HTTP server. It limits the number of requests in progress, and decides which response is
 * the last one before the connection is closed.
 */

import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isFramed } from '../api/malformed.ts';
import { lingeringClose } from './lingering-close.ts';
import { ParserInput } from './parser-input.ts';

/** The maximum number of requests that a connection handles at the same time. */
const CONCURRENT_REQUESTS = 16;

export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export class Connection {
  readonly socket: Socket;
  /** In slices, requests are parsed only while fewer than {@link CONCURRENT_REQUESTS} of them are unfinished. */
  readonly input: ParserInput;
  /**
   * The response to the newest request. `undefined` once the response is finished and its request has arrived completely:
   * thousands of idle connections would otherwise keep their last requests in memory, and V8 would copy them again and
   * again.
   */
  newest: ServerResponse | undefined;
  /** Whether the connection is closed after the newest response. If true, further requests are ignored. */
  isClosing = false;
  /** Whether further errors that Node.js reports get no response. Only the first one gets a response. */
  isRefused = false;
  readonly #handle: HandleRequest;
  readonly #onFlood: () => void;
  /** The responses that are not finished. Node.js finishes them in this order, which is the order of their requests. */
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

  /** The response to the second newest request, if it is not finished. */
  get beforeNewest(): ServerResponse | undefined {
    return this.#unfinished.at(-2);
  }

  get isIdle(): boolean {
    return this.#unfinished.length === 0 && this.socket.writableLength === 0;
  }

  /** Whether the connection holds received bytes that are not parsed yet. */
  get isHolding(): boolean {
    return this.socket.readableLength > 0;
  }

  /**
   * Handles a request immediately, or queues the request while {@link CONCURRENT_REQUESTS} requests are in progress. If
   * `isLast` is true, closes the connection after the response. Ignores the request if the connection is already being
   * closed after an earlier response. Node.js keeps the objects of ignored requests, so no further bytes are parsed.
   */
  acceptRequest(req: IncomingMessage, res: ServerResponse, isLast: boolean): void {
    if (this.#hasLastRequest) {
      this.#ignored += 1;
      this.input.slice();
      if (this.#ignored > CONCURRENT_REQUESTS) this.#onFlood();
      return;
    }
    this.newest = res;
    // The connection is also closed when the client requests it, and after two kinds of requests. Bytes after an upgrade
    // request need not be HTTP. Bytes after a request with an ambiguous end may belong to that request.
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

  /**
   * Closes the connection after the newest response. Does nothing if the connection has no response yet, or if the head
   * of the newest response was already sent.
   */
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

  /**
   * Whether further bytes can be parsed. Node.js pauses its parser when responses are buffered, because the client does
   * not read them, and when the body of a request is not read.
   */
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
