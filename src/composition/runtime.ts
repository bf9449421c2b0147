import type { HttpServer, HttpServerOptions, HttpStore } from '../adapters/http/api/index.ts';

interface Runtime {
  readonly sharesPort: boolean;
  /** The promises of docs/security.md that the server of the runtime does not keep. */
  readonly notHeld?: string;
  loadServer(): Promise<(store: HttpStore, options: HttpServerOptions) => HttpServer>;
}

const SEE = 'put a reverse proxy in front of it, as docs/runtimes.md describes';
const { bun, deno } = process.versions;

export const RELEASES: Readonly<NodeJS.Dict<string>> = { bun, deno, node: process.version };

export const runtime: Runtime =
  bun !== undefined
    ? {
        sharesPort: false,
        notHeld: `Bun's server limits neither connections nor unread responses, and supports no pipelines: ${SEE}`,
        loadServer: async () => (await import('../adapters/http/fetch/server/index.ts')).createBunServer,
      }
    : deno !== undefined
      ? {
          sharesPort: false,
          notHeld: `Deno's server does not limit connections, slow clients and unread responses, and a stop can break a request: ${SEE}`,
          loadServer: async () => (await import('../adapters/http/fetch/server/index.ts')).createDenoServer,
        }
      : {
          sharesPort: process.platform === 'linux',
          loadServer: async () => (await import('../adapters/http/index.ts')).createServer,
        };
