/** Runs a PostgreSQL server of its own in a temporary folder, on a port of the loopback interface. */

import { type ChildProcess, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';
import { Guard } from './guard.ts';
import { copyPrograms } from './programs.ts';

/** Settings of postgresql.conf. */
type Settings = Readonly<Record<string, string>>;

/** How a server stops. `fast` ends the connections and writes a checkpoint. `immediate` is like a crash. */
export type StopMode = 'fast' | 'immediate';

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

const SETTINGS: Settings = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: '16MB',
  timezone: 'UTC',
};

/** Longer than a busy machine needs for any statement, in milliseconds. */
export const QUERY_TIMEOUT = 60_000;

/** The time in milliseconds in which a server must accept connections. It can recover from a crash first. */
const START_TIMEOUT = 60_000;

export class PostgresServer {
  /** Its `query_timeout` is {@link QUERY_TIMEOUT}. */
  readonly url: string;
  readonly #guard: Guard;
  readonly #folder: string;
  readonly #command: readonly [program: string, ...args: string[]];
  readonly #user: User;
  #process: ChildProcess | undefined;

  constructor(folder: string, programs: string, port: number, user: User, settings: Settings) {
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres?query_timeout=${QUERY_TIMEOUT}`;
    this.#folder = folder;
    this.#user = user;
    this.#guard = new Guard(folder);
    const all = { ...SETTINGS, unix_socket_directories: folder, port, ...settings };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#command = [join(programs, 'postgres'), '-D', join(folder, 'data'), ...args];
  }

  /** The id of the main process of the server. */
  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('The server does not run.');
    return pid;
  }

  /** Creates the files of the server. */
  async initialize(programs: string): Promise<void> {
    const args = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    const command = [join(programs, 'initdb'), '-D', join(this.#folder, 'data'), ...args] as const;
    const { exitCode } = await this.#ended(this.#run(command));
    if (exitCode !== 0) throw new Error(`initdb failed: ${this.#log()}`);
  }

  /**
   * Starts the server on the same port and with the same data. Resolves when the server accepts connections.
   *
   * @param environment environment variables of the server
   */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#process !== undefined) throw new Error('The server runs.');
    const server = this.#run(this.#command, environment);
    this.#process = server;
    server.once('exit', () => {
      this.#process = undefined;
    });
    const end = performance.now() + START_TIMEOUT;
    while (!(await acceptsConnections(this.url))) {
      if (this.#process === undefined) throw new Error(`PostgreSQL did not start: ${this.#log()}`);
      if (performance.now() > end) throw new Error(`PostgreSQL accepts no connection: ${this.#log()}`);
      await delay(10);
    }
  }

  /** Resolves when all processes of the server have ended. A frozen server continues first. */
  async stop(mode: StopMode): Promise<void> {
    const server = this.#process;
    if (server === undefined) return;
    this.thaw();
    server.kill(SIGNALS[mode]);
    await this.#ended(server);
  }

  /** Pauses all processes of the server. The operating system still accepts new connections to its port. */
  freeze(): void {
    signal(this.pid, 'SIGSTOP');
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGCONT');
    signal(this.pid, 'SIGCONT');
  }

  /** Stops the server and removes its folder. */
  async close(): Promise<void> {
    await this.stop('immediate');
    await this.#guard.close();
  }

  /** Runs a program outside the process group of the test, because Ctrl-C ends all processes of that group. */
  #run([program, ...args]: readonly [string, ...string[]], environment = {}): ChildProcess {
    const log = openSync(join(this.#folder, 'log'), 'a');
    const options: SpawnOptions = { detached: true, stdio: ['ignore', log, log], cwd: this.#folder };
    const child = spawn(program, args, { ...options, ...this.#user, env: { LC_ALL: 'C', ...environment } });
    closeSync(log);
    this.#guard.watch(child.pid);
    child.once('exit', () => this.#guard.watch(undefined));
    child.unref();
    return child;
  }

  async #ended(child: ChildProcess): Promise<ChildProcess> {
    child.ref();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child;
  }

  #log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8').slice(-2000);
  }
}

/** Creates a server and starts it. Call `close` at the end. */
export async function startPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const programs = copyPrograms(join(folder, 'programs'));
  const user = serverUser();
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
  const server = new PostgresServer(folder, programs, await freePort(), user, settings);
  try {
    await server.initialize(programs);
    await server.start();
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

export type User = Pick<SpawnOptions, 'uid' | 'gid'>;

/** PostgreSQL refuses to run as root, so root runs it as the user nobody. */
export function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function acceptsConnections(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns the ids of the child processes. Linux has a file with the ids, and other systems have the command pgrep. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : spawnSync('pgrep', ['-P', `${pid}`]).stdout;
  return [...`${text}`.matchAll(/\d+/g)].map(Number);
}

/** Sends a signal to a process, which can have ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
