/** The listening sockets of the HTTP server. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import {
  type AddressInfo,
  createServer,
  type ListenOptions,
  Server as NetServer,
  type Socket,
} from 'node:net';
import { acceptQueued } from './accept-queue.ts';

/**
 * The maximum number of listening sockets on one port. Node.js accepts one connection per listening socket in an iteration of the
 * event loop. With a single socket, a crowd of busy connections that makes each iteration long keeps new clients waiting
 * for seconds.
 */
const LISTENING_SOCKETS = 32;

/** A server with few connections needs few listening sockets. Each of them takes a file descriptor. */
const CONNECTIONS_PER_SOCKET = 8;

/** Whether several sockets can listen on one port, and a connection can be handed over to a server. */
const canShare: boolean =
  process.platform === 'linux' &&
  process.versions['bun'] === undefined &&
  process.versions['deno'] === undefined;

export class Listeners {
  readonly #server: Server;
  readonly #accept: (socket: Socket) => void;
  readonly #count: number;
  #further: NetServer[] = [];
  #lock: NetServer | undefined;

  /**
   * @param server listens itself on the first socket
   * @param accept called with each connection of the further sockets
   * @param maxConnections the maximum number of open connections
   */
  constructor(server: Server, accept: (socket: Socket) => void, maxConnections: number) {
    this.#server = server;
    this.#accept = accept;
    this.#count = Math.min(LISTENING_SOCKETS, Math.ceil(maxConnections / CONNECTIONS_PER_SOCKET));
  }

  /** Starts to listen, and resolves with the URL of the server. Rejects with `EADDRINUSE` when the port is in use. */
  async listen(port: number, host: string): Promise<string> {
    try {
      if (canShare && port !== 0) this.#lock = await lockPort(port);
      await bind(this.#server, {
        port,
        host,
        reusePort: canShare && (port === 0 || this.#lock !== undefined),
      });
      const { address, family, port: taken } = addressOf(this.#server);
      if (canShare && port === 0) this.#lock = await lockPort(taken);
      if (this.#lock !== undefined) await this.#listenFurther(taken, address);
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #listenFurther(port: number, host: string): Promise<void> {
    while (this.#further.length < this.#count - 1) {
      // The options are those that an `http.Server` sets for the connections that it accepts itself.
      const further = createServer({ allowHalfOpen: true, noDelay: true }, this.#accept);
      await bind(further, { port, host, reusePort: true });
      this.#further.push(further);
    }
  }

  /** Resolves when the connections that clients have opened are accepted. */
  acceptQueued(): Promise<void> {
    return acceptQueued(...this.#sockets);
  }

  /**
   * Stops listening. Resolves when all connections are closed. `close` of `http.Server` would close idle connections at
   * once, even while a request is arriving, so it is called last: it ends the timer that checks the connections.
   */
  async close(): Promise<void> {
    const closing = this.#sockets.map(closed);
    this.#lock?.close();
    await Promise.all(closing);
    this.#further = [];
    this.#server.close();
  }

  get #sockets(): readonly NetServer[] {
    return [this.#server, ...this.#further];
  }
}

async function bind(server: NetServer, options: ListenOptions): Promise<void> {
  // A connection that cannot be accepted must not end the process. `once` rejects with an error of `listen`.
  if (server.listenerCount('error') === 0) server.on('error', () => {});
  server.listen(options);
  await once(server, 'listening');
}

function addressOf(server: NetServer): AddressInfo {
  return server.address() as AddressInfo;
}

function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
}

/**
 * Locks a port among the servers of this machine, until the returned socket is closed. Sockets share a port only if each of
 * them agrees, so the owner of the lock shares the port with itself, and a server without the lock does not share. Resolves
 * with `undefined` if another server has the lock. The lock is a name in the abstract namespace of Linux, which belongs to
 * one socket, and to none when its process has ended.
 */
async function lockPort(port: number): Promise<NetServer | undefined> {
  const lock = createServer((socket) => socket.destroy());
  try {
    await bind(lock, { path: `\0animal-store/${port}` });
    return lock;
  } catch {
    return undefined;
  }
}
