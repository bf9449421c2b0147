/** The open connections of a server. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection, type HandleRequest, type Turns } from './connection.ts';

/** How long all connections are sliced after a flood, in milliseconds. */
const FLOOD_TIME = 60_000;

/**
 * How many connections go on with their queues in one turn of the event loop. A server accepts one connection in a
 * turn, so a long turn keeps new clients waiting.
 */
const CONNECTIONS_PER_TURN = 2;

/** How long a stopping server keeps idle connections open, in milliseconds: a client may be sending just now. */
const IDLE_TIME = 1000;

export class Connections implements Turns {
  readonly #handle: HandleRequest;
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #ready: Connection[] = [];
  #floodEndsAt = 0;
  #stoppingSince: number | undefined;

  constructor(handle: HandleRequest) {
    this.#handle = handle;
  }

  /** Follows a socket until it is closed. */
  add(socket: Socket): void {
    const connection = new Connection(socket, this.#handle, this);
    this.#bySocket.set(socket, connection);
    // Node.js takes its own listener off a socket that asks for a tunnel, and an error nobody listens to ends the process.
    socket.on('error', () => {});
    socket.once('close', () => this.#bySocket.delete(socket));
    if (performance.now() < this.#floodEndsAt) connection.slice();
  }

  get(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    this.#bySocket.get(req.socket)?.take(req, res, this.#stoppingSince !== undefined);
  }

  /** From now on a response is the last one of its connection: those in flight, and the next one of an idle connection. */
  stop(): void {
    this.#stoppingSince = performance.now();
    for (const connection of this.#bySocket.values()) {
      if (!connection.isIdle) connection.closeAfterNewest();
    }
  }

  /** Closes the connections that are idle, once those who were about to send have had a second to do so. */
  closeIdle(): void {
    if (performance.now() - (this.#stoppingSince ?? Infinity) < IDLE_TIME) return;
    for (const { isIdle, socket } of this.#bySocket.values()) {
      if (isIdle) socket.destroySoon();
    }
  }

  /** Closes all connections at once, whatever they are doing. */
  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }

  /** Slices every connection before the next one is read: one chunk of a flood takes long enough to parse. */
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
