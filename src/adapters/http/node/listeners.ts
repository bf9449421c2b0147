import { once } from 'node:events';
import type { Server } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  Server as NetServer,
  type Socket,
} from 'node:net';
import type { ServerThread } from '../api/shared-limits.ts';

/**
 * The maximum number on one port. Node.js accepts one connection per listening socket in an iteration of the event loop, so
 * with a single one, a crowd of busy connections keeps new clients waiting for seconds.
 */
const LISTENING_SOCKETS = 16;

/** A server with few connections needs few listening sockets, each of which takes a file descriptor. */
const CONNECTIONS_PER_SOCKET = 8;

/** In milliseconds. */
const PROBE_TIMEOUT = 1000;

/** Whether several sockets can listen on one port, and a connection can be handed over to a server. */
const canShare: boolean =
  process.platform === 'linux' &&
  process.versions['bun'] === undefined &&
  process.versions['deno'] === undefined;

/** The listening sockets of the HTTP server. */
export class Listeners {
  readonly #server: Server;
  readonly #thread: ServerThread | undefined;
  readonly #count: number;
  /** The further sockets, and the lock of the port. */
  readonly #others: NetServer[] = [];

  /**
   * @param server listens itself on the first socket, and receives the connections of the further sockets
   * @param thread set if the servers of other threads listen on the same port; the process then has the lock of the port
   */
  constructor(server: Server, maxConnections: number, thread?: ServerThread) {
    const count = Math.min(LISTENING_SOCKETS, Math.ceil(maxConnections / CONNECTIONS_PER_SOCKET));
    this.#server = server;
    this.#thread = thread;
    this.#count = Math.ceil(count / (thread?.count ?? 1));
  }

  async listen(port: number, host: string): Promise<string> {
    try {
      const reusePort = canShare && (port === 0 || (await this.#lock(port, host)));
      if (reusePort && port !== 0 && this.#thread === undefined) await refuseUsedPort(port, host);
      await bind(this.#server, { port, host, reusePort });
      const { address, family, port: taken } = this.#server.address() as AddressInfo;
      if (reusePort && (port !== 0 || (await this.#lock(taken, host)))) {
        for (let count = 1; count < this.#count; count += 1) await this.#listenFurther(taken, address);
      }
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #listenFurther(port: number, host: string): Promise<void> {
    const accept = (socket: Socket): void => void this.#server.emit('connection', socket);
    const further = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    this.#others.push(further);
    await bind(further, { port, host, reusePort: true });
  }

  /** Returns whether this server, or the process for all its servers, has the lock of the port. */
  async #lock(port: number, host: string): Promise<boolean> {
    if (this.#thread !== undefined) return true;
    const lock = await lockPort(port, host);
    if (lock !== undefined) this.#others.push(lock);
    return lock !== undefined;
  }

  /** Resolves when all connections are closed. `close` of `http.Server` then ends the timer that checks them. */
  async close(): Promise<void> {
    await Promise.all([this.#server, ...this.#others.splice(0)].map(closed));
    this.#server.close();
  }
}

/**
 * Locks a port of an address among the servers of this machine, until the returned server is closed. Returns `undefined` if
 * another one has the lock, without which a server does not share the port. The lock is a name in the abstract namespace of
 * Linux, which belongs to one socket, and to none when its process has ended.
 */
export async function lockPort(port: number, host: string): Promise<NetServer | undefined> {
  const lock = createServer((socket) => socket.destroy());
  try {
    await bind(lock, { path: `\0animal-store/${port}/${host}` });
    return lock;
  } catch {
    return undefined;
  }
}

/**
 * Throws like `listen` if a program uses the port of an overlapping address, which `reusePort` would share with it. The port is
 * tried as a client: a socket that listened for a moment would lose the connections that clients open meanwhile.
 */
export async function refuseUsedPort(port: number, host: string): Promise<void> {
  const socket = connect({ port, host, timeout: PROBE_TIMEOUT });
  const isUsed = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('timeout', () => resolve(false));
    socket.on('error', () => resolve(false));
  });
  socket.destroy();
  if (!isUsed) return;
  const message = `listen EADDRINUSE: address already in use ${host}:${port}`;
  throw Object.assign(new Error(message), { code: 'EADDRINUSE', syscall: 'listen', address: host, port });
}

async function bind(server: NetServer, options: ListenOptions): Promise<void> {
  // A connection that cannot be accepted must not end the process. `once` rejects with an error of `listen`.
  if (server.listenerCount('error') === 0) server.on('error', () => {});
  server.listen(options);
  await once(server, 'listening');
}

/** `http.Server` would also close idle connections, even while a request is arriving on them. */
function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
}
