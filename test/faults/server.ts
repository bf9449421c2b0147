/** The real server, which tests kill and measure. */

import { existsSync, readFileSync } from 'node:fs';
import { Client } from '../support/client.ts';
import {
  atEnd,
  type Exit,
  OPERATOR_KEY,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { storeOf } from './commands.ts';

/** The option of `npm start`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

export interface ServerOptions {
  /** {@link OPERATOR_KEY} by default. */
  readonly keys?: readonly string[];
  /** The path to which the log is appended, instead of {@link FaultsServer.out}. */
  readonly stderr?: string;
  /** `warn` by default. */
  readonly logLevel?: string;
  /** A free port by default. */
  readonly port?: number;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the store; a new one by default. */
  readonly folder?: string;
}

export class FaultsServer {
  readonly folder: string;
  readonly origin: string;
  readonly port: number;
  /** A client that uses {@link OPERATOR_KEY}. */
  readonly client: Client;
  readonly out: Service['out'];
  readonly exit: Promise<Exit>;
  readonly #child: Service['child'];

  private constructor(service: Service, folder: string) {
    ({
      origin: this.origin,
      client: this.client,
      out: this.out,
      exit: this.exit,
      child: this.#child,
    } = service);
    this.port = Number(new URL(service.origin).port);
    this.folder = folder;
  }

  static async start(options: ServerOptions = {}): Promise<FaultsServer> {
    const { keys = [OPERATOR_KEY], stderr, folder = temporaryFolder(), env } = options;
    const settings = {
      DATABASE_URL: storeOf(folder),
      PORT: String(options.port ?? 0),
      API_KEYS: keys.join(','),
      LOG_LEVEL: options.logLevel ?? 'warn',
    };
    const service = await startService({
      cwd: folder,
      nodeArgs: NODE_ARGS,
      env: { ...settings, ...env },
      stderr,
    });
    return new FaultsServer(service, folder);
  }

  /** Opens a client with a key of its own. */
  clientWith(key: string): Client {
    const client = new Client(this.origin, key);
    atEnd(() => client.close());
    return client;
  }

  kill(): Promise<Exit> {
    this.#child.kill('SIGKILL');
    return this.exit;
  }

  stop(): Promise<Exit> {
    return stopService({ child: this.#child, exit: this.exit });
  }

  /** Resident memory in MB; `undefined` without /proc, which only Linux has. */
  memory(): number | undefined {
    const path = `/proc/${this.#child.pid}/status`;
    if (!existsSync(path)) return undefined;
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]) / 1024;
  }
}
