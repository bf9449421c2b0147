/** Imports of files, of standard input and of other stores. */

import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { chunksOf } from '../../../src/adapters/cli/input.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { storageUnavailable } from '../../../src/application/ports/storage-fault.ts';
import { createCommands } from '../../../src/composition/commands.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { petJson } from '../../../src/domain/pet-json.ts';
import { numberedPet } from '../../../src/testing/fixtures/pets.ts';
import { INVALID_PETS, numbersIn } from '../../support/pets.ts';
import {
  type CommandLine,
  commandLine,
  exportOf,
  failed,
  failingOutput,
  INVALID_LINE,
  inMemory,
  line,
  openSqliteStore,
  storeOf,
  withRex,
} from './cli.ts';

const INT64_MAX = '9223372036854775807';
const PET: Pet = { id: 1n, ...numberedPet(1n) };
const INVALID = { id: 1n, ...INVALID_PETS[0].input } as Pet;
const NOTHING = 'nothing was imported';

describe('import', () => {
  test('stores the pets of a file, and prints their number', async () => {
    const cli = commandLine();
    const file = join(dirname(cli.path), 'pets.ndjson');
    writeFileSync(file, `\ufeff${line(1)}\r\n  \n${line(2, ',"x-extra":[1]').trim()}`);
    const run = await cli.run(['import', '--create-store', file]);
    expect(run).toEqual({ status: 0, out: 'Imported 2 pets.\n', err: '' });
    expect(await exportOf(cli)).toBe(`${petJson(PET)}\n${petJson({ id: 2n, ...numberedPet(2n) })}\n`);
    expect(JSON.parse((await cli.run(['import', '--json', file])).out)).toEqual({ imported: 2, skipped: 0 });
  });

  test.each([
    [INVALID_PETS[0].message, INVALID_PETS[0].json],
    ['id must be an integer from 1', line(1, ',"id":0').trim()],
    ['id must be left out', line(1, ',"id":7').trim()],
    ['invalid JSON', '{"id":01}'],
    ['longer than 16 KiB', `{"x":"${'x'.repeat(70_000)}"}`],
    ['invalid UTF-8', Buffer.from('é', 'latin1')],
  ])('a line is refused, and nothing is imported: %s', async (reason, bad) => {
    const cli = inMemory();
    const parts = [line(2), line(3), bad, '\n', line(4)];
    const stdin = Readable.from([Buffer.concat(parts.map((part) => Buffer.from(part)))]);
    const { status, out, err } = await cli.run(['import', '-'], { stdin });
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^animal-store: line 3: .*; nothing was imported\n$/);
    expect(err).toContain(reason);
    expect(await exportOf(cli)).toBe('');
  });

  test.each(['', '\n'])(
    'warns of an input without pets, which a failed program can have written: %j',
    async (stdin) => {
      const run = await inMemory().run(['import', '-'], { stdin });
      expect(run).toEqual({ status: 0, out: 'Imported 0 pets.\n', err: 'warning: the input has no pets\n' });
    },
  );

  test('of an invalid line says that a store which it has created stays', async () => {
    const { err } = await commandLine().run(['import', '--create-store', '-'], { stdin: INVALID_LINE });
    expect(err).toMatch(/; nothing was imported\n$/);
  });

  test('of a file that cannot be read creates no store', async () => {
    const cli = commandLine();
    const folder = dirname(cli.path);
    for (const [file, reason] of [
      [join(folder, 'none'), 'ENOENT: no such file or directory'],
      [folder, 'expected a file, got a directory'],
    ] as const)
      expect(await cli.run(['import', '--create-store', file])).toEqual(
        failed(1, `cannot read ${file}: ${reason}`),
      );
    expect(existsSync(cli.path)).toBe(false);
  });

  test('of the file of a store says how a store is imported', async () => {
    const cli = await withRex();
    const fault = `expected lines of JSON, got a SQLite database: import sqlite:${cli.path}`;
    const message = `cannot read ${cli.path}: ${fault}; ${NOTHING}`;
    expect(await cli.run(['import', cli.path])).toEqual(failed(1, message));
    const piped = await cli.run(['import', '-'], { stdin: readFileSync(cli.path, 'latin1') });
    expect(piped.err).toContain('import sqlite:FILE');
  });

  test('only the start of a file tells that it is a SQLite database', async () => {
    const parts = ['{"name":"', 'SQLite format 3"}'].map((part) => Buffer.from(part));
    expect(await Readable.from(chunksOf(Readable.from(parts), '-')).toArray()).toEqual(parts);
  });
});

const stdin = line(2, ',"id":9').concat(line(3, `,"id":${INT64_MAX}`), line(4, ',"id":3'));

test('pets with ids are refused by a store that has had a pet, unless new ids are wanted', async () => {
  const cli = await withRex();
  const before = await exportOf(cli);
  expect(await cli.run(['import', '-'], { stdin })).toEqual(
    failed(1, `ids can be imported only into a store that has never had a pet; ${NOTHING}`),
  );
  expect(await exportOf(cli)).toBe(before);
  expect((await cli.run(['import', '-', '--new-ids'], { stdin })).status).toBe(0);
  expect((await exportOf(cli)).match(/(?<="id":)\d+/g)).toEqual(['1', '2', '3', '4']);
});

describe('import --skip-invalid', () => {
  const args = ['import', '--skip-invalid', '-'];

  test('writes the lines byte for byte, in their order, and their reasons and the counts apart', async () => {
    const cli = inMemory();
    const bad = [
      Buffer.from('\ufeff[] \r\n'),
      Buffer.from(INVALID_LINE.replace('{', '{"id":3,')),
      Buffer.of(0xe9, 0x0a),
      Buffer.from(`${'é'.repeat(150_000)}\n`),
      Buffer.from(line(3, ',"id":1')),
      Buffer.from('oops'),
    ];
    const [first, ...more] = bad as [Buffer];
    const good = [1, 2].map((id) => Buffer.from(line(id, `,"id":${id}`)));
    const bytes = Buffer.concat([first, ...good, ...more]);
    // Chunks that end in the middle of a line.
    const chunks = [bytes.subarray(0, 50), bytes.subarray(50, 100_000), bytes.subarray(100_000)];
    const written: Buffer[] = [];
    const stdout = new PassThrough().on('data', (chunk) => written.push(chunk));
    const { status, err } = await cli.run(args, { stdin: Readable.from(chunks), stdout });
    expect(Buffer.concat(written).equals(Buffer.concat(bad))).toBe(true);
    const lines = err.trimEnd().split('\n');
    expect(status).toBe(0);
    expect(lines.map((text) => /^line (\d+)/.exec(text)?.[1])).toEqual([...'145678', undefined]);
    expect(lines.slice(-2)).toEqual(['line 8: invalid JSON', 'Imported 2 pets, skipped 6 lines.']);
    expect(numbersIn(`[${(await exportOf(cli)).trim().split('\n')}]`)).toEqual([1, 2]);
  });

  test.each(['ENOSPC', 'EPIPE'])('imports nothing when the lines cannot be written: %s', async (code) => {
    const cli = inMemory();
    const run = await cli.run(args, { stdin: `oops\n${line(2)}`, stdout: failingOutput(code) });
    expect([run.status, run.err]).toEqual([1, expect.stringContaining(`${code}: no; ${NOTHING}\n`)]);
    expect(await exportOf(cli)).toBe('');
  });
});

describe('import --dry-run', () => {
  const args = ['import', '--dry-run', '-'];

  test('says how many pets can be imported, and imports none', async () => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const stdin = line(2) + line(3);
    const out = 'Dry run: 2 pets can be imported.\n';
    expect(await cli.run(args, { stdin })).toEqual({ status: 0, out, err: '' });
    const json = await cli.run([...args, '--json'], { stdin });
    expect(JSON.parse(json.out)).toEqual({ dryRun: true, imported: 0, importable: 2, skipped: 0 });
    expect(await exportOf(cli)).toBe(before);
  });

  test('creates no store, and does not advise to create one', async () => {
    const cli = commandLine();
    expect(await cli.run(args, { stdin: line(2) })).toEqual(failed(1, `${cli.path}: there is no such file`));
    expect(readdirSync(dirname(cli.path))).toEqual([]);
  });
});

describe('import of a store', () => {
  /** The command line of the program, whose store is a SQLite file that need not exist. */
  function target(path?: string): CommandLine {
    const cli = commandLine(path);
    return commandLine(cli.path, createCommands({ DATABASE_URL: `sqlite:${cli.path}` }, '1'));
  }

  /** A command line with a source whose pets are `batches`. A batch can be an error. */
  async function withSource(...batches: readonly (readonly Pet[] | Error)[]): Promise<CommandLine> {
    const { path } = await storeOf();
    const exportPets = async function* () {
      for (const batch of batches) {
        if (batch instanceof Error) throw batch;
        yield batch;
      }
    };
    const store = Object.assign(openSqliteStore(path), { exportPets });
    return commandLine(path, { openSource: async () => ({ place: 'elsewhere', store }) });
  }

  test('checks the pets, and can leave out those that break a rule', async () => {
    const cli = await withSource([INVALID, { ...PET, id: 2n }]);
    expect((await cli.run(['import', 'x'])).err).toMatch(
      /^animal-store: line 1: \w+ .*; nothing was imported\n$/,
    );
    expect((await cli.run(['import', '--skip-invalid', 'x'])).out).toBe(`${petJson(INVALID)}\n`);
    expect(await exportOf(cli)).toBe(`${petJson({ ...PET, id: 2n })}\n`);
  });

  test('that is the target is refused, by any of its names', async () => {
    const { path } = await withRex();
    const soft = join(dirname(path), 'soft');
    symlinkSync(path, soft);
    for (const name of [path, relative('.', path), soft]) {
      const run = await target(path).run(['import', '--new-ids', `sqlite:${name}`]);
      expect([run.status, run.err]).toEqual([
        1,
        expect.stringMatching(/^animal-store: .* is the store itself: expected another store\n$/),
      ]);
    }
    const url = 'postgres://me:hunter2@127.0.0.1:1/pets';
    const { run } = commandLine('', createCommands({ DATABASE_URL: url }, '1'));
    expect(await run(['import', 'postgresql://you:swordfish@127.0.0.1:1/pets'])).toMatchObject({
      status: 1,
      err: expect.stringMatching(/^animal-store: import: \S+ is the store itself: expected another store\n$/),
    });
  });

  test('is neither created nor changed', async () => {
    const missing = join(dirname(commandLine().path), 'none.db');
    const cli = target();
    expect(await cli.run(['import', '--create-store', `sqlite:${missing}`])).toEqual(
      failed(1, `import: ${missing}: there is no such file`),
    );
    expect([existsSync(missing), existsSync(cli.path)]).toEqual([false, false]);
    const backup = join(dirname(missing), 'backup.db');
    await (await withRex()).run(['backup', backup]);
    const bytes = readFileSync(backup);
    const run = await cli.run(['import', '--create-store', `sqlite:${backup}`]);
    expect([run.status, run.err]).toEqual([0, '']);
    expect(readFileSync(backup).equals(bytes)).toBe(true);
    expect(readdirSync(dirname(backup))).toEqual([basename(backup)]);
  });
});

test('the signal cancels an import that waits for its input', async () => {
  const cli = await withRex();
  const before = await exportOf(cli);
  const end = new AbortController();
  const stdin = new Readable({ read() {} });
  stdin.push(line(2));
  const running = cli.run(['import', '--skip-invalid', '-'], { stdin, signal: end.signal });
  await delay(50);
  end.abort();
  expect(await running).toEqual(failed(1, `interrupted; ${NOTHING}`));
  expect(stdin.destroyed).toBe(true);
  expect(await exportOf(cli)).toBe(before);
});

test('the signal hides no error that says that the outcome is unknown', async () => {
  const end = new AbortController();
  const storage = openMemoryStorage();
  const importPets = async (batches: AsyncIterable<unknown>) => {
    for await (const _ of batches);
    end.abort();
    throw storageUnavailable('the connection failed: it is unknown whether this was stored');
  };
  const cli = inMemory({ ...storage, transfer: { ...storage.transfer, importPets } });
  const run = await cli.run(['import', '-'], { stdin: '', signal: end.signal });
  expect(run).toEqual(failed(1, 'the connection failed: it is unknown whether this was stored'));
});
