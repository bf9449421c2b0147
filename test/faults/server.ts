/** Starts the real command, once per file of tests. */

import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expectNoKey, registerKey } from '../support/canary.ts';
import { BIN, type Exit, THREADS, workersOf } from '../support/process.ts';
import { OPERATOR } from './keys.ts';

/** The option of `npm start`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

/** A server may wait 10 seconds for requests in flight, and a busy machine takes longer. */
const STOP_TIMEOUT = 60_000;

/** The unit of the times in /proc, which is the same on all systems that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** The number of processors that the threads of the server can use at the same time. */
export const PROCESSORS: number = Math.min(THREADS, availableParallelism());

const LISTENING = /^Listening on http:\/\/127\.0\.0\.1:(\d+)\/v1$/m;

/** The destination of standard error: a file, a device on which every write fails, or a pipe that is never read. */
export type LogTarget = 'file' | 'full device' | 'unread pipe';

export interface ServerOptions {
  /** {@link OPERATOR} by default. */
  readonly keys?: readonly string[];
  readonly log?: LogTarget;
  /** `warn` by default. */
  readonly logLevel?: string;
  /** A free port by default. */
  readonly port?: number;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the store; a new one by default. */
  readonly folder?: string;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Ends the processes that a file of tests has left running, checks that no log contains a key, and removes the folders. */
export function cleanUp(): void {
  for (const child of running) child.kill('SIGKILL');
  const logs = [...folders].map((folder) => orNothing(() => readFileSync(join(folder, 'log'), 'utf8')) ?? '');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  for (const log of logs) expectNoKey(log, 'the log');
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-faults-'));
  folders.add(folder);
  return folder;
}

export class FaultsServer {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  readonly exit: Promise<Exit>;
  readonly #child: ChildProcess;
  #hasExited = false;

  private constructor(child: ChildProcess, folder: string, port: number, exit: Promise<Exit>) {
    this.#child = child;
    this.folder = folder;
    this.port = port;
    this.pid = child.pid as number;
    this.exit = exit;
    void exit.then(() => {
      this.#hasExited = true;
    });
  }

  static async start({
    keys = [OPERATOR],
    log = 'file',
    logLevel = 'warn',
    folder = newFolder(),
    port: wanted = 0,
    env,
  }: ServerOptions = {}): Promise<FaultsServer> {
    for (const key of keys) registerKey(key);
    const child = spawn(process.execPath, [...NODE_ARGS, BIN, 'serve'], {
      cwd: folder,
      env: {
        ...storeOf(folder),
        PORT: String(wanted),
        API_KEYS: keys.join(','),
        LOG_LEVEL: logLevel,
        ...workersOf(env ?? {}),
        ...env,
      },
      stdio: stdioOf(log, folder),
    });
    running.add(child);
    const exit = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
    void exit.then(() => running.delete(child));
    const port = await new Promise<number>((resolve, reject) => {
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const found = LISTENING.exec(output)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
      void exit.then(({ code, signal }) => {
        const reason = orNothing(() => readFileSync(join(folder, 'log'), 'utf8'));
        reject(new Error(`the server did not start: ${signal ?? code} ${reason ?? ''}`));
      });
    });
    return new FaultsServer(child, folder, port, exit);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async exitsWithin(milliseconds: number): Promise<boolean> {
    if (!this.#hasExited)
      await Promise.race([this.exit, setTimeout(milliseconds, undefined, { ref: false })]);
    return this.#hasExited;
  }

  /** The contents of the log, if it is a file. */
  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
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
      const text = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      const kilobytes = /VmRSS:\s*(\d+)/.exec(text)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    });
  }

  /** The processor time that the process has used, in seconds. */
  processorTime(): number | undefined {
    return orNothing(() => {
      const text = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    });
  }

  /** The number of open file descriptors. */
  descriptors(): number | undefined {
    return orNothing(() => readdirSync(`/proc/${this.pid}/fd`).length);
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
    env: storeOf(folder),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 30,
  });
  return output.split('\n').slice(0, -1);
}

/** Only root can create a device. */
export const canMakeDevice: boolean = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-faults-'));
  try {
    closeSync(openSync(fullDevice(folder), 'w'));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();

export function storeOf(folder: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', DATABASE_URL: `sqlite:${join(folder, 'pets.db')}` };
}

function stdioOf(log: LogTarget, folder: string): StdioOptions {
  if (log === 'unread pipe') return ['ignore', 'pipe', 'pipe'];
  return ['ignore', 'pipe', openSync(log === 'file' ? join(folder, 'log') : fullDevice(folder), 'a')];
}

/** Creates a device like /dev/full: every write to it fails as on a full disk. */
function fullDevice(folder: string): string {
  const path = join(folder, 'full');
  const { status } = spawnSync('mknod', [path, 'c', '1', '7']);
  if (status !== 0) throw new Error('mknod failed');
  return path;
}
