import type { FetchHandler } from '../handler.ts';
import type { RuntimeServer } from './fetch-server.ts';

interface Address {
  readonly hostname: string;
  readonly port: number;
}

declare const Deno: {
  serve(
    options: {
      readonly port: number;
      readonly hostname: string;
      readonly automaticCompression: boolean;
      readonly signal: AbortSignal;
      readonly onListen: () => void;
      readonly onError: () => Response;
    },
    handle: (request: Request, info: { readonly remoteAddr: Address }) => Promise<Response>,
  ): { readonly addr: Address; shutdown(): Promise<void> };
};

export function listenOnDeno(port: number, hostname: string, handle: FetchHandler): RuntimeServer {
  const aborter = new AbortController();
  let isShuttingDown = false;
  const options = {
    port,
    hostname,
    // A compressed body would not match its strong entity tag.
    automaticCompression: false,
    signal: aborter.signal,
    onListen() {},
    onError: () => new Response(null, { status: 500 }),
  };
  const server = Deno.serve(options, (request, { remoteAddr }) =>
    handle(request, { remoteAddress: remoteAddr.hostname, remotePort: remoteAddr.port }),
  );
  return {
    address: server.addr.hostname,
    port: server.addr.port,
    breaksBodies: true,
    isBusy: true,
    stop() {
      isShuttingDown = true;
      return server.shutdown();
    },
    destroy() {
      // While the server shuts down, an abort would be an uncaught error. The connections end with the process.
      if (!isShuttingDown) aborter.abort();
    },
  };
}
