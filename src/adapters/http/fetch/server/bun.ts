import type { FetchInfo } from '../fetch-request.ts';
import type { FetchHandler } from '../handler.ts';
import type { RuntimeServer } from './fetch-server.ts';

/** How long a connection may send and receive nothing, in seconds. */
const IDLE_TIMEOUT = 65;

/** In bytes. Bun receives a body into memory before anything reads it, and refuses a larger one itself. */
const MAX_BODY_SIZE = 1024 * 1024;

interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

interface BunServer {
  readonly port: number;
  readonly hostname: string;
  readonly pendingRequests: number;
  requestIP(request: Request): SocketAddress | null;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

declare const Bun: {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly idleTimeout: number;
    readonly maxRequestBodySize: number;
    readonly development: boolean;
    readonly fetch: (request: Request) => Promise<Response>;
    readonly error: () => Response;
  }): BunServer;
};

/** Bun asks the operating system for the address, which is therefore read only if it is used. */
class BunClient implements FetchInfo {
  readonly #server: BunServer;
  readonly #request: Request;
  #address: SocketAddress | null | undefined;

  constructor(server: BunServer, request: Request) {
    this.#server = server;
    this.#request = request;
  }

  get remoteAddress(): string | undefined {
    return this.#read()?.address;
  }

  get remotePort(): number | undefined {
    return this.#read()?.port;
  }

  #read(): SocketAddress | null {
    this.#address ??= this.#server.requestIP(this.#request);
    return this.#address;
  }
}

export function listenOnBun(port: number, hostname: string, handle: FetchHandler): RuntimeServer {
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: IDLE_TIMEOUT,
    maxRequestBodySize: MAX_BODY_SIZE,
    // By default, the response to a request whose handling failed shows the stack of the error.
    development: false,
    error: () => new Response(null, { status: 500 }),
    fetch(request) {
      return handle(request, new BunClient(server, request));
    },
  });
  return {
    address: server.hostname,
    port: server.port,
    breaksBodies: false,
    // A connection that has had no request stays open.
    get isBusy() {
      return server.pendingRequests > 0;
    },
    stop: () => server.stop(),
    destroy: () => void server.stop(true),
  };
}
