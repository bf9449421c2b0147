import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nextTurn } from '../../../application/next-turn.ts';
import { isFramed } from '../api/check-head.ts';
import { SlicedInput } from './sliced-input.ts';

/** The open connections of a server. */
export class Connections {
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #slicedInput = new SlicedInput();
  #isStopping = false;
  #floodEndsAt = 0;

  add(socket: Socket): void {
    const connection = new Connection(socket, this.#slicedInput, this.#onFullPipeline);
    this.#bySocket.set(socket, connection);
    if (performance.now() < this.#floodEndsAt) connection.slice();
    // After a CONNECT request, Node.js removes its listener. Without any, an error would end the process.
    socket.on('error', () => {});
    socket.once('close', () => this.#bySocket.delete(socket));
  }

  get count(): number {
    return this.#bySocket.size;
  }

  get(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  accepts(req: IncomingMessage, res: ServerResponse): boolean {
    return this.#bySocket.get(req.socket)?.accepts(req, res, this.#isStopping) ?? false;
  }

  /** From now on, each connection is closed after its newest response, and an idle one also by {@link closeIdle}. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#bySocket.values()) connection.closeAfterNewest();
  }

  closeIdle(): void {
    for (const { isIdle, socket } of this.#bySocket.values()) {
      if (isIdle) socket.destroySoon();
    }
  }

  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  /** Where one client sends a long pipeline, others may. */
  readonly #onFullPipeline = (): void => {
    const now = performance.now();
    const isNew = now >= this.#floodEndsAt;
    this.#floodEndsAt = now + FLOOD_TIME;
    if (!isNew) return;
    for (const connection of this.#bySocket.values()) connection.slice();
  };
}

/** The maximum number of requests that a client can send without waiting for a response. Later ones are not handled. */
const PIPELINE_LIMIT = 16;

/** For this time after a full pipeline, what clients send is parsed in slices, which is slower. In milliseconds. */
const FLOOD_TIME = 60_000;

export type HandleRequest = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Decides which response is the last one of a connection. */
export class Connection {
  readonly socket: Socket;
  /**
   * The response to the newest request. `undefined` once both are complete: V8 would otherwise copy the last requests of
   * thousands of idle connections again and again.
   */
  newest: ServerResponse | undefined;
  /** Whether the connection is closed after the newest response. If true, further requests are ignored. */
  isClosing = false;
  /** Only the first error that Node.js reports gets a response. */
  isRefused = false;
  /** Node.js finishes the responses in this order, which is the order of their requests. */
  readonly #unfinished: ServerResponse[] = [];
  readonly #slicedInput: SlicedInput;
  readonly #onFullPipeline: () => void;
  #isReading = true;
  #isSliced = false;

  constructor(socket: Socket, slicedInput: SlicedInput, onFullPipeline: () => void) {
    this.socket = socket;
    this.#slicedInput = slicedInput;
    this.#onFullPipeline = onFullPipeline;
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

  get unfinished(): number {
    return this.#unfinished.length;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /**
   * Returns whether a request must be handled. If `isLast` is true, closes the connection after its response. Requests after
   * the last one are ignored.
   */
  accepts(req: IncomingMessage, res: ServerResponse, isLast: boolean): boolean {
    if (this.isClosing || this.newest?.shouldKeepAlive === false) {
      this.#stopReading();
      return false;
    }
    this.newest = res;
    this.#unfinished.push(res);
    res.on('finish', this.#onFinish);
    const isFull = this.#unfinished.length === PIPELINE_LIMIT;
    if (isFull) this.#onFullPipeline();
    // Bytes after an upgrade request need not be HTTP. Bytes after a request with an ambiguous end may belong to it.
    const isUnclear = req.headers.upgrade !== undefined || !isFramed(req);
    if (isLast || isFull || isUnclear || !res.shouldKeepAlive) this.closeAfterNewest();
    return true;
  }

  /** Closes the connection after the newest response, if its head was not sent yet. */
  closeAfterNewest(): void {
    if (this.newest === undefined || this.newest.headersSent) return;
    this.newest.shouldKeepAlive = false;
    this.isClosing = true;
  }

  /** From this call on, what the client sends reaches no parser: after CONNECT, Node.js gives the parser to another socket. */
  discard(): void {
    this.#isReading = false;
  }

  /** From this call on, what the client sends is parsed in slices. */
  slice(): void {
    if (this.#isSliced) return;
    this.#isSliced = true;
    this.#slicedInput.add(this);
  }

  readonly #onFinish = (): void => {
    this.#unfinished.shift();
    if (this.#unfinished.length === 0 && this.newest?.req.complete) this.newest = undefined;
  };

  /**
   * Node.js keeps the objects of ignored requests, so no further bytes are parsed. They wait in the network until the last
   * response is sent, even when Node.js resumes the socket, and are then discarded.
   */
  #stopReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.isRefused = true;
    this.slice();
    this.socket.on('resume', () => this.socket.writableEnded || this.socket.pause());
    this.socket.pause();
  }
}

/** After the last response, the connection is closed when the client sends nothing for this time, in milliseconds. */
const SILENCE_TIMEOUT = 1000;

/** For this time after the last response, in milliseconds, a client can keep the connection open by sending data. */
const LINGER_TIMEOUT = 30_000;

/**
 * Sends all written data. Node.js destroys the socket when the client has ended its side too (RFC 9112, section 9.6). The
 * operating system could otherwise reset the connection, and the client could lose the last response. Something must read
 * from the socket meanwhile.
 */
export function lingeringClose(socket: Socket): void {
  const destroy = () => void socket.destroy();
  socket.end(() => {
    if (socket.destroyed) return;
    // A client whose bytes wait is not silent. When the process stood still, they wait in the network until the next turns.
    const silence = setTimeout(async () => {
      const { bytesRead } = socket;
      for (let turn = 0; turn < 2; turn += 1) await nextTurn();
      if (socket.bytesRead === bytesRead && socket.readableLength === 0) destroy();
    }, SILENCE_TIMEOUT);
    const end = setTimeout(destroy, LINGER_TIMEOUT);
    socket.on('data', () => silence.refresh());
    socket.once('close', () => {
      clearTimeout(silence);
      clearTimeout(end);
    });
  });
}
