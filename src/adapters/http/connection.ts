/** One connection of the server: its requests in order, how many are worked on at once, and whether it is idle. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingeringClose } from './lingering-close.ts';
import { isFramed } from './malformed.ts';

/** How many requests of one connection are worked on at once. Further ones are queued, or stay unread. */
const CONCURRENT_REQUESTS = 16;

/** How many bytes a sliced connection gives to the parser at once: some dozens of the shortest requests. */
const SLICE_SIZE = 512;

export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** What the connections of a server share. */
export interface Turns {
  /** Called when more requests of a connection arrive than are worked on at once. */
  onFlood(): void;
  /** Calls `goOn` in a later turn of the event loop, when the connection's turn has come. */
  whenFree(connection: Connection): void;
}

type Listener = (chunk: Buffer) => void;

/**
 * Node.js parses all requests of a chunk of 64 KiB, thousands of short ones, before any of them is answered. Reading in
 * slices prevents that, but takes the parser off its fast path. So a connection is sliced only once a flood was seen.
 */
export class Connection {
  readonly socket: Socket;
  /** The response to the newest request. When it is finished, so are all before it. */
  newest: ServerResponse | undefined;
  /** The one before it, when it was not finished as the newest request came. */
  beforeNewest: ServerResponse | undefined;
  /** No further request is read: the newest response is the last one. */
  isClosing = false;
  /** A message that is no HTTP was refused. Behind it there is more of it, and Node.js tells of every piece. */
  isRefused = false;
  readonly #handle: HandleRequest;
  readonly #turns: Turns;
  readonly #queue: (readonly [req: IncomingMessage, res: ServerResponse])[] = [];
  /** The requests that are handed over and not finished. The first one of a burst counts until the next burst. */
  #working = 0;
  #isScheduled = false;
  /** Node.js's own listener for data, which parses it; set once the connection is sliced. */
  #parse: Listener | undefined;
  /** Node.js's own listener for the end, once the client has ended its side. */
  #parseEnd: (() => void) | undefined;
  /** What was read and not parsed yet. The socket is paused as long as there is some. */
  #held: Buffer | undefined;
  /** Whether it was this class, not Node.js, that paused the socket. */
  #isPausedHere = false;
  #isEnded = false;

  constructor(socket: Socket, handle: HandleRequest, turns: Turns) {
    this.socket = socket;
    this.#handle = handle;
    this.#turns = turns;
    // Node.js calls this after a last response.
    socket.destroySoon = () => this.#end();
  }

  /** Whether every request that was read has its response, and the system has taken all of it. */
  get isIdle(): boolean {
    return (this.newest?.writableFinished ?? true) && this.socket.writableLength === 0;
  }

  /** Whether bytes of the client were read that the parser was not given yet. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Handles a request now, or once enough of those before it are finished. */
  take(req: IncomingMessage, res: ServerResponse, isLast: boolean): void {
    const previous = this.newest;
    if (this.isClosing || previous?.shouldKeepAlive === false) return;
    this.newest = res;
    // Behind such a request nobody knows where the next one begins, or whether it is HTTP.
    if (isLast || req.headers.upgrade !== undefined || !isFramed(req)) this.closeAfterNewest();
    if (previous === undefined || (this.#working <= 1 && previous.writableFinished)) {
      this.#working = 1;
      this.beforeNewest = undefined;
    } else {
      this.beforeNewest = previous;
      res.once('finish', this.#onFinish);
      if (this.#working >= CONCURRENT_REQUESTS) {
        this.#queue.push([req, res]);
        this.#turns.onFlood();
        return;
      }
      this.#working += 1;
    }
    void this.#handle(req, res);
  }

  /** Makes the newest response the last one, unless it has promised otherwise. */
  closeAfterNewest(): void {
    if (this.newest === undefined || this.newest.headersSent) return;
    this.newest.shouldKeepAlive = false;
    this.isClosing = true;
  }

  /** From now on the parser is given little at once, and nothing while enough requests are worked on. */
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
    // The parser must not learn of the end before it was given all that came before.
    const parseEnd = this.socket.listeners('end').at(-1) as () => void;
    this.socket.off('end', parseEnd);
    this.socket.on('end', () => {
      this.#parseEnd = parseEnd;
      if (this.#held === undefined) this.#endParser();
    });
    // Node.js has paused the socket on its own account, and lets it go on.
    this.socket.on('resume', () => {
      if (this.#held !== undefined && !this.#isPausedHere) this.#schedule();
    });
  }

  readonly #onFinish = (): void => {
    this.#working -= 1;
    if (this.#queue.length > 0 || this.#held !== undefined) this.#schedule();
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turns.whenFree(this);
  }

  /** Hands over as many queued requests as are worked on at once, and then reads on. */
  goOn(): void {
    this.#isScheduled = false;
    if (this.socket.destroyed) return;
    while (this.#working < CONCURRENT_REQUESTS) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#working += 1;
      void this.#handle(...next);
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
    return this.#queue.length === 0 && this.#working < CONCURRENT_REQUESTS;
  }

  /** The parser must not be given anything while Node.js has paused the socket. */
  #feed(bytes: Buffer): void {
    if (this.isClosing && this.newest?.req.complete !== false) return;
    this.#parse?.call(this.socket, bytes.subarray(0, SLICE_SIZE));
    if (bytes.length > SLICE_SIZE && !this.socket.destroyed) this.#hold(bytes.subarray(SLICE_SIZE));
    else this.#endParser();
  }

  /** Node.js has given up the parser of a connection whose message was refused. */
  #endParser(): void {
    const parseEnd = this.#parseEnd;
    this.#parseEnd = undefined;
    if (!this.isRefused && !this.socket.destroyed) parseEnd?.call(this.socket);
  }

  /** Bytes wait for the connection's turn, and the socket with them. */
  #hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    if (!this.socket.isPaused()) {
      this.#isPausedHere = true;
      this.socket.pause();
    }
    if (this.#hasRoom) this.#schedule();
  }

  /** Sends what was written, and nothing more. */
  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.isClosing = true;
    this.#held = undefined;
    lingeringClose(this.socket);
  }
}
