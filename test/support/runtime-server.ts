/** The server of the runtime in which the tests run, if it is Bun or Deno, with a fetch handler. */

import type { Api } from '../../src/adapters/http/api/api.ts';
import { createHandler } from '../../src/adapters/http/fetch/handler.ts';
import type { HttpServer } from '../../src/adapters/http/node/options.ts';

interface ListenOptions {
  readonly port: number;
  readonly hostname: string;
}

interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

interface Bun {
  serve(
    options: ListenOptions & {
      readonly fetch: (request: Request, server: BunServer) => Promise<Response>;
    },
  ): BunServer;
}

interface DenoAddress {
  readonly hostname: string;
  readonly port: number;
}

interface DenoServer {
  readonly addr: DenoAddress;
  shutdown(): Promise<void>;
}

interface Deno {
  serve(
    options: ListenOptions & { readonly onListen: () => void; readonly signal: AbortSignal },
    handle: (request: Request, info: { readonly remoteAddr: DenoAddress }) => Promise<Response>,
  ): DenoServer;
}

/** The runtime in which the tests run. */
export const RUNTIME: 'node' | 'bun' | 'deno' =
  'Bun' in globalThis ? 'bun' : 'Deno' in globalThis ? 'deno' : 'node';

/** Creates a server of Bun or Deno. Returns `undefined` on Node.js. */
export function createRuntimeServer(api: Api): HttpServer | undefined {
  if (RUNTIME === 'node') return undefined;
  const listen = RUNTIME === 'bun' ? listenOnBun : listenOnDeno;
  let stop = async (_timeout: number): Promise<void> => {};
  return {
    async listen(port, hostname) {
      const listening = listen(api, { port, hostname });
      stop = listening.stop;
      return `http://${hostname}:${listening.port}`;
    },
    async stop(timeout) {
      api.admission.stop();
      await stop(timeout);
    },
    get isStopping() {
      return api.admission.isStopping;
    },
    statistics: () => ({ connections: 0, requestsInFlight: 0, refused: { ...api.admission.refused } }),
  };
}

interface Listening {
  readonly port: number;
  stop(timeout: number): Promise<void>;
}

function listenOnBun(api: Api, options: ListenOptions): Listening {
  const { Bun } = globalThis as unknown as { Bun: Bun };
  const handle = createHandler(api);
  const server = Bun.serve({
    ...options,
    fetch(request, { requestIP }) {
      const client = requestIP.call(server, request);
      return handle(request, { remoteAddress: client?.address, remotePort: client?.port });
    },
  });
  return {
    port: server.port,
    stop: (timeout) => atMost(timeout, server.stop(), () => void server.stop(true)),
  };
}

function listenOnDeno(api: Api, options: ListenOptions): Listening {
  const { Deno } = globalThis as unknown as { Deno: Deno };
  const handle = createHandler(api);
  const aborter = new AbortController();
  const server = Deno.serve(
    { ...options, onListen() {}, signal: aborter.signal },
    (request, { remoteAddr }) =>
      handle(request, { remoteAddress: remoteAddr.hostname, remotePort: remoteAddr.port }),
  );
  return {
    port: server.addr.port,
    stop: (timeout) => atMost(timeout, server.shutdown(), () => aborter.abort()),
  };
}

async function atMost(timeout: number, ended: Promise<void>, end: () => void): Promise<void> {
  const timer = setTimeout(end, timeout);
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, timeout + 100))]);
  clearTimeout(timer);
}
