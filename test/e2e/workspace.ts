/** What the tests of the command line share: a folder with a store, and the real bin on it. */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type RunningProcess,
  runBin,
  type Service,
  startService,
  temporaryFolder,
} from '../support/process.ts';

type Environment = Readonly<Record<string, string>>;

export interface Ended {
  /** `null` when a signal ended it. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** The commands work on `pets.db` in the folder, unless their arguments say otherwise. */
export class Workspace {
  readonly folder: string = temporaryFolder();
  readonly store: string = this.path('pets.db');

  path(name: string): string {
    return join(this.folder, name);
  }

  start(args: readonly string[], input?: string, environment: Environment = {}): RunningProcess {
    const env = { DATABASE_URL: `sqlite:${this.store}`, ...environment };
    return runBin(args, { cwd: this.folder, env, ...(input !== undefined && { input }) });
  }

  /** Runs a command to its end. */
  run(args: readonly string[], input?: string, environment?: Environment): Promise<Ended> {
    return endOf(this.start(args, input, environment));
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

  serve(environment: Environment = {}): Promise<Service> {
    return startService({ cwd: this.folder, env: { DATABASE_URL: `sqlite:${this.store}`, ...environment } });
  }
}

export async function endOf({ exit, out }: RunningProcess): Promise<Ended> {
  const { code } = await exit;
  return { status: code, out: out.stdout, err: out.stderr };
}

/** Lists the animals with a key. */
export function listWith({ origin }: Service, key: string): Promise<Response> {
  return fetch(`${origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Animals that an import takes. */
export function lines(count: number, name = 'animal'): string {
  return Array.from(
    { length: count },
    (_, index) => `{"name":"${name} ${index}","categoryId":${2n ** 62n + BigInt(index)},"status":"sold"}\n`,
  ).join('');
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}
