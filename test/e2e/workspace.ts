/** Helpers for tests of the command line: a folder with a store, in which commands run as processes or in this process. */

import { copyFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createCommands } from '../../src/composition/commands.ts';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { addPets, commandLine, type Run } from '../adapters/cli/cli.ts';
import { until } from '../support/clock.ts';
import { Connection } from '../support/connection.ts';
import { REX_JSON as REX } from '../support/pets.ts';
import {
  BIN,
  OPERATOR_KEY,
  type RunningProcess,
  runBin,
  type Service,
  startService,
  temporaryFolder,
} from '../support/process.ts';

type Environment = Readonly<Record<string, string>>;

export interface Ended {
  /** The exit status, or `null` if the process was ended by a signal. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder for one test. By default, the commands use the store `pets.db` in the folder. */
export class Workspace {
  readonly folder: string;
  readonly store: string;
  readonly #env: Environment;

  constructor(folder: string = temporaryFolder()) {
    this.folder = folder;
    this.store = this.path('pets.db');
    this.#env = { DATABASE_URL: `sqlite:${this.store}` };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  start(args: readonly string[], input?: string): RunningProcess {
    return runBin(args, { cwd: this.folder, env: this.#env, ...(input !== undefined && { input }) });
  }

  /** Runs a command, and resolves when it has ended. */
  run(args: readonly string[], input?: string): Promise<Ended> {
    return endOf(this.start(args, input));
  }

  /** Runs a command, and resolves with its standard output. Rejects when the exit status is not 0. */
  async output(...args: readonly string[]): Promise<string> {
    return outputOf(args, await this.run(args));
  }

  /**
   * Runs a command in this process with the parts of the program, which is much faster than a process of its own. A
   * relative path in the arguments would not lead to the folder.
   */
  runHere(args: readonly string[], stdin = '', environment?: Environment): Promise<Run> {
    const cli = commandLine(this.store, createCommands({ ...this.#env, ...environment }, '1.0.0'));
    return cli.run(args, { stdin });
  }

  /** Like `output`, but runs the command in this process. */
  async outputHere(args: readonly string[], stdin?: string): Promise<string> {
    return outputOf(args, await this.runHere(args, stdin));
  }

  /** Creates this number of pets in the store. */
  addPets(count: number): Promise<void> {
    return addPets(this.store, lines(count));
  }

  async createKey(name = 'test'): Promise<string> {
    return (await this.outputHere(['keys', 'create', '--create-store', '--name', name])).trim();
  }

  serve(): Promise<Service> {
    return startService({ cwd: this.folder, env: this.#env });
  }
}

function outputOf(args: readonly string[], { status, out, err }: Ended): string {
  if (status !== 0) throw new Error(`animal-store ${args.join(' ')} ended with ${status}: ${err}`);
  return out;
}

/** Creates a folder in which `npm start` runs the built command of this clone. */
export function folderOfClone(): string {
  const [clone, folder] = [dirname(dirname(BIN)), temporaryFolder()];
  copyFileSync(join(clone, 'package.json'), join(folder, 'package.json'));
  for (const name of ['bin', 'node_modules']) symlinkSync(join(clone, name), join(folder, name));
  return folder;
}

export async function endOf({ exit, out }: RunningProcess): Promise<Ended> {
  const { code } = await exit;
  return { status: code, out: out.stdout, err: out.stderr };
}

/** The body of {@link createInFlight}. */
export { REX };

/** Sends the head of a create. Resolves when the server waits for the body. */
export async function createInFlight(origin: string): Promise<Connection> {
  const connection = await Connection.open(origin);
  connection.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${REX.length}\r\n\r\n`,
  );
  await until(() => connection.interim.length > 0);
  return connection;
}

/** Returns NDJSON lines of valid pets. */
export function lines(count: number, name = 'animal'): string {
  const pets = Array.from({ length: count }, (_, index) =>
    samplePet(`${name} ${index}`, 2n ** 62n + BigInt(index)),
  );
  return pets.map((pet) => `${newPetJson(pet)}\n`).join('');
}
