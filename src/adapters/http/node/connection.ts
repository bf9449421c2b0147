/**
 * A client connection of the HTTP server. It limits the number of requests in progress, and decides which response is
 * the last one before the connection is closed.
 */

import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isFramed } from '../api/malformed.ts';
import { lingeringClose } from './lingering-close.ts';

/**
 * The maximum number of requests that a connection handles at the same time. Further requests are queued, or their
 * bytes are not parsed yet.
 */
const CONCURRENT_REQUESTS = 16;

/**
 * The maximum number of bytes that {@link Connection.slice} passes to the parser at once. These bytes contain at most a
 * few dozen requests.
 */
const SLICE_SIZE = 512;

export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Lets the connections of a server work in turn, so that no connection blocks the event loop for long. */
export interface Turns {
  /** Called when a connection receives a request while {@link CONCURRENT_REQUESTS} of its requests are in progress. */
  onFlood(): void;
  /** Calls `connection.goOn()` in a later iteration of the event loop. */
  whenFree(connection: Connection): void;
}

type Listener = (chunk: Buffer) => void;

/**
 * A client connection of the HTTP server.
 *
 * A client can send thousands of requests in one chunk of 64 KiB, and Node.js parses a whole chunk before it sends the
 * first response. After a flood of requests, a connection therefore splits each chunk into slices of {@link SLICE_SIZE}
 * bytes, and sends responses before it passes the next slice to the parser. Without a flood, chunks are not split,
 * because the parser of Node.js is slower when it is called from JavaScript. A flood starts when a connection receives
 * a request while {@link CONCURRENT_REQUESTS} of its requests are in progress.
 */
export class Connection {
  readonly socket: Socket;
  /**
   * The response to the newest request. Responses are finished in the order of their requests, so the newest response
   * is finished last. `undefined` once the response is finished and its request has arrived completely: thousands of idle
   * connections would otherwise keep their last requests in memory, and V8 would copy them again and again.
   */
  newest: ServerResponse | undefined;
  /** The response to the second newest request, if it was not finished when the newest request arrived. */
  beforeNewest: ServerResponse | undefined;
  /** Whether the connection is closed after the newest response. If true, further requests are ignored. */
  isClosing = false;
  /**
   * Whether an invalid or slow message was already refused. Node.js can report further errors for the same message, but
   * only the first error gets a response.
   */
  isRefused = false;
  readonly #handle: HandleRequest;
  readonly #turns: Turns;
  readonly #queue: (() => void)[] = [];
  /** The number of requests in progress. */
  #inProgress = 0;
  #isScheduled = false;
  /** The `data` listener of Node.js, which parses requests. `undefined` until `slice` removes it from the socket. */
  #parse: Listener | undefined;
  /** The `end` listener of Node.js. Set when the client has ended its side, until this class calls the listener. */
  #parseEnd: (() => void) | undefined;
  /** The received bytes that are not parsed yet. While bytes are held, the socket is paused. */
  #held: Buffer | undefined;
  /** Whether this class has paused the socket. Node.js can also pause the socket. */
  #isPausedHere = false;
  #isEnded = false;

  constructor(socket: Socket, handle: HandleRequest, turns: Turns) {
    this.socket = socket;
    this.#handle = handle;
    this.#turns = turns;
    // Node.js calls `destroySoon` after the last response of a connection.
    socket.destroySoon = () => this.#end();
  }

  /** Whether all parsed requests have finished responses, and all bytes were passed to the operating system. */
  get isIdle(): boolean {
    return (this.newest?.writableFinished ?? true) && this.socket.writableLength === 0;
  }

  /** Whether the connection holds received bytes that are not parsed yet. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /**
   * Handles a request immediately, or queues the request while {@link CONCURRENT_REQUESTS} requests are in progress. If
   * `isLast` is true, closes the connection after the response. Ignores the request if the connection is already being
   * closed after an earlier response.
   */
  take(req: IncomingMessage, res: ServerResponse, isLast: boolean): void {
    if (this.isClosing || this.newest?.shouldKeepAlive === false) return;
    this.beforeNewest = this.newest?.writableFinished ? undefined : this.newest;
    this.newest = res;
    // The connection is also closed after two kinds of requests. Bytes after an upgrade request need not be HTTP. Bytes
    // after a request with an ambiguous end may belong to that request.
    if (isLast || req.headers.upgrade !== undefined || !isFramed(req)) this.closeAfterNewest();
    res.on('finish', this.#onFinish);
    if (this.#inProgress >= CONCURRENT_REQUESTS) {
      // A queued request keeps its own asynchronous context, in which OpenTelemetry finds its span.
      this.#queue.push(AsyncResource.bind(() => void this.#handle(req, res)));
      this.#turns.onFlood();
      return;
    }
    this.#inProgress += 1;
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

  /**
   * From this call on, passes received bytes to the parser in slices of {@link SLICE_SIZE} bytes. A slice is passed
   * only while fewer than {@link CONCURRENT_REQUESTS} requests are in progress.
   */
  slice(): void {
    if (this.#parse !== undefined) return;
    const [parse] = this.socket.listeners('data') as Listener[];
    if (parse === undefined) return;
    this.#parse = parse;
    this.socket.off('data', parse);
    this.socket.on('data', (chunk: Buffer) => {
      if (chunk.length <= SLICE_SIZE && this.#held === undefined && this.#hasRoom) this.#feed(chunk);
      else this.#hold(chunk);
    });
    // The `end` listener of Node.js ends the parser. It must not be called before all received bytes were parsed.
    const parseEnd = this.socket.listeners('end').at(-1) as () => void;
    this.socket.off('end', parseEnd);
    this.socket.on('end', () => {
      this.#parseEnd = parseEnd;
      if (this.#held === undefined) this.#endParser();
    });
    // Node.js pauses the socket when the client does not read the responses. Held bytes are parsed only after Node.js
    // has resumed the socket.
    this.socket.on('resume', () => {
      if (this.#held !== undefined && !this.#isPausedHere) this.#schedule();
    });
  }

  readonly #onFinish = (): void => {
    this.#inProgress -= 1;
    if (this.newest?.writableFinished && this.newest.req.complete) {
      this.newest = undefined;
      this.beforeNewest = undefined;
    }
    if (this.#queue.length > 0 || this.#held !== undefined) this.#schedule();
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turns.whenFree(this);
  }

  /**
   * Handles queued requests until {@link CONCURRENT_REQUESTS} requests are in progress. If the queue becomes empty
   * first, passes the next slice of the held bytes to the parser.
   */
  goOn(): void {
    this.#isScheduled = false;
    if (this.socket.destroyed) return;
    while (this.#inProgress < CONCURRENT_REQUESTS) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#inProgress += 1;
      next();
    }
    const held = this.#held;
    if (held === undefined || !this.#hasRoom) return;
    if (this.#isPausedHere) {
      this.#isPausedHere = false;
      this.socket.resume();
    } else if (this.socket.isPaused()) {
      return;
    }
    this.#held = undefined;
    this.#feed(held);
  }

  get #hasRoom(): boolean {
    return this.#queue.length === 0 && this.#inProgress < CONCURRENT_REQUESTS;
  }

  /**
   * Passes the first slice of the given bytes to the parser, and holds the rest. Must not be called while Node.js has
   * paused the socket.
   */
  #feed(bytes: Buffer): void {
    if (this.isClosing && this.newest?.req.complete !== false) return;
    this.#parse?.call(this.socket, bytes.subarray(0, SLICE_SIZE));
    if (bytes.length > SLICE_SIZE && !this.socket.destroyed) this.#hold(bytes.subarray(SLICE_SIZE));
    else this.#endParser();
  }

  /**
   * Calls the `end` listener of Node.js if the client has ended its side of the connection. Does not call the listener
   * after a refused message, because Node.js has then already released the parser.
   */
  #endParser(): void {
    const parseEnd = this.#parseEnd;
    this.#parseEnd = undefined;
    if (!this.isRefused && !this.socket.destroyed) parseEnd?.call(this.socket);
  }

  /** Holds bytes until they can be parsed, and pauses the socket. */
  #hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    if (!this.socket.isPaused()) {
      this.#isPausedHere = true;
      this.socket.pause();
    }
    if (this.#hasRoom) this.#schedule();
  }

  /** Sends all written data, discards the held bytes, and closes the connection. */
  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.isClosing = true;
    this.#held = undefined;
    lingeringClose(this.socket);
  }
}
