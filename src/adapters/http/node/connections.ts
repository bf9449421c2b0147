import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection, type HandleRequest } from './connection.ts';
import { sliceTurns } from './slice-turns.ts';

/** How long after a flood of requests new connections are parsed in slices, which is slower, in milliseconds. */
const FLOOD_TIME = 60_000;

/** The open connections of a server. */
export class Connections {
  readonly #handle: HandleRequest;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #nextSlice = sliceTurns();
  #floodEndsAt = 0;
  #isStopping = false;

  constructor(handle: HandleRequest) {
    this.#handle = handle;
  }

  add(socket: Socket): void {
    const connection = new Connection(socket, this.#handle, this.#nextSlice, this.#onFlood);
    this.#bySocket.set(socket, connection);
    // After a CONNECT request, Node.js removes its listener. Without any, an error would end the process.
    socket.on('error', () => {});
    socket.once('close', () => this.#bySocket.delete(socket));
    if (performance.now() < this.#floodEndsAt) connection.input.slice();
  }

  get count(): number {
    return this.#bySocket.size;
  }

  get(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  acceptRequest(req: IncomingMessage, res: ServerResponse): void {
    this.#bySocket.get(req.socket)?.acceptRequest(req, res, this.#isStopping);
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

  /**
   * The open connections, and those that are opened during the next {@link FLOOD_TIME} milliseconds, are parsed in slices,
   * so that no client blocks the event loop for long.
   */
  readonly #onFlood = (): void => {
    const now = performance.now();
    const isKnown = now < this.#floodEndsAt;
    this.#floodEndsAt = now + FLOOD_TIME;
    if (isKnown) return;
    for (const connection of this.#bySocket.values()) connection.input.slice();
  };
}
