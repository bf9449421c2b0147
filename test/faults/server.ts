/** The real server, which tests kill and measure. */

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import {
  atEnd,
  type Exit,
  OPERATOR_KEY,
  type Service,
  startService,
  temporaryFolder,
} from '../support/process.ts';
import { exportOf, storeOf } from './commands.ts';

/** The option of `npm start`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

/** A server may wait 10 seconds for requests in flight, and a busy machine takes longer. */
const STOP_TIMEOUT = 60_000;

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

  private constructor({ child, origin, client, out, exit }: Service, folder: string) {
    this.#child = child;
    this.folder = folder;
    this.origin = origin;
    this.port = Number(new URL(origin).port);
    this.client = client;
    this.out = out;
    this.exit = exit;
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

  /** Whether the process has ended. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Exports all pets with the real command, one line of JSON each. */
  export(): Promise<string[]> {
    return exportOf(this.folder);
  }

  kill(): Promise<Exit> {
    this.#child.kill('SIGKILL');
    return this.exit;
  }

  /** Stops the server with SIGTERM, and with SIGKILL if it does not exit. */
  async stop(): Promise<Exit> {
    this.#child.kill('SIGTERM');
    await Promise.race([this.exit, setTimeout(STOP_TIMEOUT, undefined, { ref: false })]);
    return this.hasExited ? this.exit : this.kill();
  }

  /** Resident memory in MB; `undefined` without /proc, which only Linux has. */
  memory(): number | undefined {
    const path = `/proc/${this.#child.pid}/status`;
    if (!existsSync(path)) return undefined;
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]) / 1024;
  }
}
