/** The real bin in processes of its own, for the tests of the command line. They end with their test. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/animal-store.js', import.meta.url));

export interface Ended {
  /** `null` when a signal ended it. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface Server {
  readonly url: string;
  /** Everything that it has written so far. */
  readonly written: () => string;
  readonly stop: () => Promise<void>;
}

/** A folder for one test, with the command line in it: the store is `pets.db` unless the arguments say otherwise. */
export class Bench {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'animal-store-'));
  readonly store: string = join(this.folder, 'pets.db');

  constructor() {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: this.folder,
      env: { PATH: process.env['PATH'], DATABASE_URL: `sqlite:${this.store}`, ...environment },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let out = '';
    let err = '';
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    const ended = once(child, 'close').then(([status]) => ({ status: status as number | null, out, err }));
    return { child, ended };
  }

  /** Runs a command to its end. */
  run(
    args: readonly string[],
    stdin = '',
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Ended> {
    const { child, ended } = this.start(args, environment);
    child.stdin?.end(stdin);
    return ended;
  }

  /** The output of a command that must be done. */
  async output(...args: readonly string[]): Promise<string> {
    const { status, out, err } = await this.run(args);
    if (status !== 0) throw new Error(`animal-store ${args.join(' ')} ended with ${status}: ${err}`);
    return out;
  }

  async createKey(name = 'test'): Promise<string> {
    return (await this.output('keys', 'create', '--name', name)).trim();
  }

  async serve(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    const { child, ended } = this.start(['serve'], { PORT: '0', ...environment });
    let written = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text) => {
        written += text;
      });
    }
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', () => {
        const found = /^Listening on (\S+)$/m.exec(written)?.[1];
        if (found !== undefined) resolve(found);
      });
      ended.then(({ err }) => reject(new Error(err)), reject);
    });
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
    };
    return { url, written: () => written, stop };
  }
}

/** Lists the animals, for the status of the answer. */
export async function statusWith(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return answer.status;
}
