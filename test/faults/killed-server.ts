/** A server in its own process, which is killed with SIGKILL and started again on the same port and the same store. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { registerKey } from '../support/canary.ts';
import { BIN, OPERATOR_KEY, workersOf } from '../support/process.ts';

export class KilledServer {
  readonly key: string = OPERATOR_KEY;
  readonly port: number;
  kills = 0;
  readonly #folder: string;
  readonly #databaseUrl: string;
  #child: ChildProcess | undefined;

  private constructor(folder: string, databaseUrl: string, port: number) {
    this.#folder = folder;
    this.#databaseUrl = databaseUrl;
    this.port = port;
  }

  static async start(folder: string, databaseUrl: string, port: number): Promise<KilledServer> {
    registerKey(OPERATOR_KEY);
    const server = new KilledServer(folder, databaseUrl, port);
    await server.#start();
    return server;
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async killAndRestart(): Promise<void> {
    await this.stop();
    this.kills += 1;
    await this.#start();
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async #start(): Promise<void> {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const child = spawn(process.execPath, [BIN, 'serve'], {
      cwd: this.#folder,
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        PORT: String(this.port),
        DATABASE_URL: this.#databaseUrl,
        API_KEYS: this.key,
        LOG_LEVEL: 'silent',
        ...workersOf({}),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Listening on')) resolve();
      });
      child.once('exit', () => reject(new Error('the server did not start')));
    });
  }
}
