/** The open connections of a server. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection, type HandleRequest } from './connection.ts';
import { sliceTurns } from './slice-turns.ts';

/**
 * How long after a flood of requests new connections are parsed in slices, in milliseconds. The parser of Node.js is
 * slower then, so the connections are not parsed in slices all the time.
 */
const FLOOD_TIME = 60_000;

export class Connections {
  readonly #handle: HandleRequest;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #nextSlice = sliceTurns();
  #floodEndsAt = 0;
  #isStopping = false;

  constructor(handle: HandleRequest) {
    this.#handle = handle;
  }

  /** Adds a connection for a new socket. The connection is removed when the socket is closed. */
  add(socket: Socket): void {
    const connection = new Connection(socket, this.#handle, this.#nextSlice, this.#onFlood);
    this.#bySocket.set(socket, connection);
    // After a CONNECT request, Node.js removes its error listener from the socket. Without any listener, an error of
    // the socket would end the process.
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

  /**
   * Starts to close the connections. A connection with requests in flight is closed after the response to its newest
   * request. An idle connection is closed after its next response, or by {@link closeIdle}.
   */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#bySocket.values()) {
      if (!connection.isIdle) connection.closeAfterNewest();
    }
  }

  closeIdle(): void {
    for (const { isIdle, socket } of this.#bySocket.values()) {
      if (isIdle) socket.destroySoon();
    }
  }

  /** Closes all connections immediately, including connections with requests in flight. */
  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  /**
   * Called when a client has sent too many requests at once. The bytes of all open connections are parsed in slices from
   * now on, and those of the connections that are opened during the next {@link FLOOD_TIME} milliseconds, so that no
   * client blocks the event loop for long.
   */
  readonly #onFlood = (): void => {
    const now = performance.now();
    const isKnown = now < this.#floodEndsAt;
    this.#floodEndsAt = now + FLOOD_TIME;
    if (isKnown) return;
    for (const connection of this.#bySocket.values()) connection.input.slice();
  };
}
