import type { HttpServer, HttpServerOptions, HttpStore } from '../adapters/http/api/index.ts';

type CreateServer = (store: HttpStore, options: HttpServerOptions) => HttpServer;

interface Runtime {
  /** The releases that the log names. */
  readonly releases: Readonly<Record<string, string | undefined>>;
  /** Whether several threads can listen on the same port. */
  readonly sharesPort: boolean;
  /** What the server of the runtime does not hold of what docs/security.md promises. */
  readonly notHeld?: string;
  /** Loads the server of the runtime. The modules of the other servers are not loaded. */
  loadServer(): Promise<CreateServer>;
}

const SEE = 'put a reverse proxy in front of it, as docs/runtimes.md describes';
const { bun, deno } = process.versions;

export const runtime: Runtime =
  bun !== undefined
    ? {
        releases: { bun, node: process.version },
        sharesPort: false,
        notHeld: `Bun's server limits neither connections nor unread responses, and supports no pipelines: ${SEE}`,
        loadServer: async () => (await import('../adapters/http/fetch/server/index.ts')).createBunServer,
      }
    : deno !== undefined
      ? {
          releases: { deno, node: process.version },
          sharesPort: false,
          notHeld: `Deno's server does not limit connections, slow clients and unread responses, and a stop can break a request: ${SEE}`,
          loadServer: async () => (await import('../adapters/http/fetch/server/index.ts')).createDenoServer,
        }
      : {
          releases: { node: process.version },
          sharesPort: process.platform === 'linux',
          loadServer: async () => (await import('../adapters/http/index.ts')).createServer,
        };
