/** The open connections of a server. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection, type HandleRequest, type Turns } from './connection.ts';

/**
 * How long after a flood of requests the bytes of new connections are parsed in small slices, in milliseconds. {@link
 * Connection} explains floods and slices.
 */
const FLOOD_TIME = 60_000;

/**
 * The maximum number of connections that continue their work (`Connection.goOn`) in one iteration of the event loop. Long
 * iterations would delay new clients.
 */
const CONNECTIONS_PER_TURN = 2;

/**
 * After `stop`, idle connections stay open for this time, in milliseconds. A request that a client sends on a
 * connection before it learns of the stop is handled.
 */
export const IDLE_TIME: number = 1000;

export class Connections implements Turns {
  readonly #handle: HandleRequest;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #ready: Connection[] = [];
  #floodEndsAt = 0;
  #stoppingSince: number | undefined;

  constructor(handle: HandleRequest) {
    this.#handle = handle;
  }

  /** Adds a connection for a new socket. The connection is removed when the socket is closed. */
  add(socket: Socket): void {
    const connection = new Connection(socket, this.#handle, this);
    this.#bySocket.set(socket, connection);
    // After a CONNECT request, Node.js removes its error listener from the socket. Without any listener, an error of
    // the socket would end the process.
    socket.on('error', () => {});
    socket.once('close', () => this.#bySocket.delete(socket));
    if (performance.now() < this.#floodEndsAt) connection.slice();
  }

  get count(): number {
    return this.#bySocket.size;
  }

  get(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    this.#bySocket.get(req.socket)?.take(req, res, this.#stoppingSince !== undefined);
  }

  /**
   * Starts to close the connections. A connection with requests in flight is closed after the response to its newest
   * request. An idle connection is closed after its next response, or by {@link closeIdle}.
   */
  stop(): void {
    this.#stoppingSince = performance.now();
    for (const connection of this.#bySocket.values()) {
      if (!connection.isIdle) connection.closeAfterNewest();
    }
  }

  /** Closes the idle connections, if `stop` was called at least {@link IDLE_TIME} milliseconds ago. */
  closeIdle(): void {
    if (performance.now() - (this.#stoppingSince ?? Infinity) < IDLE_TIME) return;
    for (const { isIdle, socket } of this.#bySocket.values()) {
      if (isIdle) socket.destroySoon();
    }
  }

  /** Closes all connections immediately, including connections with requests in flight. */
  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  /**
   * Called when a client has sent too many requests at once. From now on, every open connection parses its bytes in
   * small slices, so that no client blocks the event loop for long. So does every connection that is opened during the
   * next {@link FLOOD_TIME} milliseconds.
   */
  onFlood(): void {
    const now = performance.now();
    const isKnown = now < this.#floodEndsAt;
    this.#floodEndsAt = now + FLOOD_TIME;
    if (isKnown) return;
    for (const connection of this.#bySocket.values()) connection.slice();
  }

  whenFree(connection: Connection): void {
    this.#ready.push(connection);
    if (this.#ready.length === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const next = this.#ready.slice(0, CONNECTIONS_PER_TURN);
    for (const connection of next) connection.goOn();
    this.#ready.splice(0, next.length);
    if (this.#ready.length > 0) setImmediate(this.#turn);
  };
}
