import type { FetchHandler } from '../handler.ts';
import type { RuntimeServer } from './fetch-server.ts';

/** How long a connection may send and receive nothing, in seconds. */
const IDLE_TIMEOUT = 65;

/** In bytes. Bun receives a body into memory before anything reads it, and refuses a larger one itself. */
const MAX_BODY_SIZE = 1024 * 1024;

interface BunServer {
  readonly port: number;
  readonly hostname: string;
  readonly pendingRequests: number;
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
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
      const client = server.requestIP(request);
      return handle(request, { remoteAddress: client?.address, remotePort: client?.port });
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
