/** Helpers for the tests of the command line, which run it in this process, on a real SQLite file or in memory. */

import { readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { type CliOptions, consoleOf, runCli } from '../../../src/adapters/cli/index.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { openSqliteStorage, restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Environment } from '../../../src/composition/config/settings.ts';
import { diagnose } from '../../../src/composition/doctor.ts';
import { parseJson } from '../../../src/domain/json.ts';
import type { NewPetInput } from '../../../src/domain/pet.ts';
import { expectNoKeyInOutput } from '../../support/canary.ts';
import { INVALID_PETS, numberedJson } from '../../support/pets.ts';
import { temporaryFile } from '../sqlite/temporary-file.ts';

export interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export function failed(status: number, message: string): Run {
  return { status, out: '', err: `animal-store: ${message}\n` };
}

export interface RunOptions {
  readonly stdin?: string | Readable;
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
  readonly stdout?: Writable;
  /** The variables for `doctor`, besides `DATABASE_URL`. */
  readonly environment?: Environment;
  readonly openStore?: CliOptions['openStore'];
  readonly startService?: CliOptions['startService'];
}

class TextStream extends Writable {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY = false) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(text: string | Uint8Array, _encoding: string, done: () => void): void {
    this.text += Buffer.from(text).toString();
    done();
  }
}

export function failingOutput(code: string): Writable {
  const error = Object.assign(new Error(`${code}: no`), { code });
  return new Writable({ write: (_chunk, _encoding, done) => done(error) }).on('error', () => {});
}

/** Returns the lines that were written, and a stream for more of them. */
export function lineStream(): { readonly lines: string[]; readonly stdout: Writable } {
  const lines: string[] = [];
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(...String(chunk).trim().split('\n'));
      done();
    },
  });
  return { lines, stdout };
}

/** Returns a signal, and an output that aborts the signal at the first chunk and never calls back. */
export function abortingOutput(): { readonly signal: AbortSignal; readonly stdout: Writable } {
  const end = new AbortController();
  return { signal: end.signal, stdout: new Writable({ write: () => end.abort() }) };
}

export interface CommandLine {
  readonly path: string;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Run>;
}

/**
 * A command line that uses a store of its own.
 *
 * @param wiring replaces the parts that open the store and start the service
 */
export function commandLine(
  path: string = temporaryFile(),
  wiring: Partial<Omit<CliOptions, 'console'>> = {},
): CommandLine {
  const run = async (args: readonly string[], options: RunOptions = {}): Promise<Run> => {
    const [stdout, stderr] = [new TextStream(options.isTerminal), new TextStream()];
    const { stdin = '', signal = new AbortController().signal } = options;
    const status = await runCli(args, {
      version: '1.2.3',
      settings: [],
      databaseUrls: [],
      signal,
      startService: options.startService ?? (() => Promise.reject(new Error('serve is not expected here'))),
      openStore: options.openStore ?? (async (_, { mustExist }) => openSqliteStore(path, mustExist)),
      openSource: async () => undefined,
      restoreStore: (_, file, how) => restoreSqliteStore(path, file, how),
      diagnose: (_, backup) =>
        diagnose({ DATABASE_URL: `sqlite:${path}`, ...options.environment }, undefined, backup),
      openApiDocument: async () => '{"openapi":"3.1.0"}',
      ...wiring,
      console: consoleOf(
        {
          stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
          stdout: options.stdout ?? stdout,
          stderr,
        },
        signal,
      ),
    });
    expectNoKeyInOutput(stdout.text, stderr.text);
    return { status, out: stdout.text, err: stderr.text };
  };
  return { path, run };
}

/** A command line whose commands use one store in memory, which is much faster than a file. */
export function inMemory(
  storage: Storage = openMemoryStorage(),
): CommandLine & { readonly openStore: () => AnimalStore } {
  const openStore = () => new AnimalStore({ ...storage, close: async () => {} });
  return { ...commandLine('', { openStore: async () => openStore() }), openStore };
}

export function openSqliteStore(path: string, mustExist = true): AnimalStore {
  return new AnimalStore(openSqliteStorage(path, { mustExist, startWriter: false }));
}

/** Returns the line of the pet with this number, with the text of further members. */
export function line(number: number, more = ''): string {
  return numberedJson(number).replace(/\}$/, `${more}}\n`);
}

/** The line of a pet that breaks a rule. */
export const INVALID_LINE: string = `${INVALID_PETS[0].json}\n`;

/** Returns a command line on a new store with a pet from each line. */
export async function storeOf(lines = ''): Promise<CommandLine> {
  const cli = commandLine();
  await addPets(cli.path, lines);
  return cli;
}

/** Creates a pet from each line. */
export async function addPets(path: string, lines: string): Promise<void> {
  const store = openSqliteStore(path, false);
  for (const each of lines.split('\n').filter((text) => text !== ''))
    await store.createPet(parseJson(each) as NewPetInput);
  await store.close();
}

/** Returns the pets of the store as lines. */
export async function exportOf({ run }: CommandLine): Promise<string> {
  const { status, out } = await run(['pets', 'list', '--all', '--json']);
  if (status !== 0) throw new Error('the list failed');
  return out.replaceAll(/^[[\]]\]?\n|,(?=\n)/gm, '');
}

/** Returns a function that makes command lines whose stores are copies of one store, which `fill` makes once. */
export function copiesOf(fill: (cli: CommandLine) => Promise<unknown>): () => Promise<CommandLine> {
  const make = async (): Promise<Buffer> => {
    const cli = commandLine();
    await fill(cli);
    return readFileSync(cli.path);
  };
  let bytes: Promise<Buffer> | undefined;
  return async () => {
    bytes ??= make();
    const cli = commandLine();
    writeFileSync(cli.path, await bytes);
    return cli;
  };
}

export const withRex: () => Promise<CommandLine> = copiesOf((cli) => addPets(cli.path, line(1)));
