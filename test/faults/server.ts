/** The real command, which tests kill and measure. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { Client } from '../support/client.ts';
import {
  atEnd,
  BIN,
  type Exit,
  OPERATOR_KEY,
  type Service,
  startService,
  temporaryFolder,
} from '../support/process.ts';

/** The option of `npm start`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

/** A server may wait 10 seconds for requests in flight, and a busy machine takes longer. */
const STOP_TIMEOUT = 60_000;

/** The unit of the times in /proc, which is the same on all systems that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** The number of processors that the event loop of a server can use at the same time. */
export const PROCESSORS = 1;

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
  #hasExited = false;

  private constructor({ child, origin, client, out, exit }: Service, folder: string) {
    this.#child = child;
    this.folder = folder;
    this.origin = origin;
    this.port = Number(new URL(origin).port);
    this.client = client;
    this.out = out;
    this.exit = exit;
    void exit.then(() => {
      this.#hasExited = true;
    });
  }

  static async start(options: ServerOptions = {}): Promise<FaultsServer> {
    const {
      keys = [OPERATOR_KEY],
      stderr,
      logLevel = 'warn',
      folder = temporaryFolder(),
      port = 0,
    } = options;
    const { env = {} } = options;
    const settings = { PORT: String(port), API_KEYS: keys.join(','), LOG_LEVEL: logLevel };
    const service = await startService({
      cwd: folder,
      nodeArgs: NODE_ARGS,
      env: { ...storeOf(folder), ...settings, ...env },
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

  async exitsWithin(milliseconds: number): Promise<boolean> {
    if (!this.#hasExited)
      await Promise.race([this.exit, setTimeout(milliseconds, undefined, { ref: false })]);
    return this.#hasExited;
  }

  /** Exports all pets with the real command, one line of JSON each. */
  export(): string[] {
    return exportOf(this.folder);
  }

  kill(): Promise<Exit> {
    this.#child.kill('SIGKILL');
    return this.exit;
  }

  /** Stops the server with SIGTERM, and with SIGKILL if it does not exit. */
  async stop(): Promise<Exit> {
    this.#child.kill('SIGTERM');
    return (await this.exitsWithin(STOP_TIMEOUT)) ? this.exit : this.kill();
  }

  /** Resident memory in MB; `undefined` after the process has exited, or without /proc. */
  memory(): number | undefined {
    return orNothing(() => {
      const text = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      const kilobytes = /VmRSS:\s*(\d+)/.exec(text)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    });
  }

  /** The processor time that the process has used, in seconds. */
  processorTime(): number | undefined {
    return orNothing(() => {
      const text = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    });
  }

  /** The number of open file descriptors. */
  descriptors(): number | undefined {
    return orNothing(() => readdirSync(`/proc/${this.#child.pid}/fd`).length);
  }
}

/** Only Linux has process information in /proc. */
export const hasProc: boolean = existsSync('/proc/self/status');

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Runs `animal-store export`, and returns its lines. */
export function exportOf(folder: string): string[] {
  const output = execFileSync(process.execPath, [BIN, 'export'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...storeOf(folder) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 30,
  });
  return output.split('\n').slice(0, -1);
}

function storeOf(folder: string): Record<string, string> {
  return { DATABASE_URL: `sqlite:${join(folder, 'pets.db')}` };
}

/** Resolves with the first key of a store, which only one of its servers has printed. */
export async function firstKeyOf(servers: readonly FaultsServer[]): Promise<string> {
  const keys = () => servers.flatMap(({ out }) => /^ *(pets_\w+)$/m.exec(out.stdout)?.[1] ?? []);
  await expect.poll(keys).toHaveLength(1);
  return keys()[0] as string;
}
