import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../../src/application/animal-store.ts';
import {
  commandLine,
  exportOf,
  failed,
  failingOutput,
  line,
  openSqliteStore,
  storeOf,
  withRex,
} from '../cli.ts';

describe('export', () => {
  test('writes the same bytes after an import into another store, in another engine too', async () => {
    const first = commandLine();
    const stdin = Array.from({ length: 2500 }, (_, index) =>
      line(`é🐈 "${index}"`, ',"status":"pending"'),
    ).join('');
    await first.run(['import', '--create-store', '-'], { stdin });
    const text = await exportOf(first);
    const second = await storeOf(text);
    expect(await exportOf(second)).toBe(text);
    const memory = openMemoryStorage();
    const third = { path: '', run: commandLine().run };
    const openStore = async () => new AnimalStore({ ...memory, close: async () => {} });
    await third.run(['import', '--create-store', '-'], { stdin: text, openStore });
    expect((await third.run(['export'], { openStore })).out).toBe(text);
  });

  test('--status', async () => {
    const cli = await storeOf(line('Rex') + line('Mia', ',"status":"sold"'));
    const { out, err } = await cli.run(['export', '--status', 'sold']);
    expect(out).toBe('{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n');
    expect(err).toMatch(/^Exported 1 pet in /);
    expect(await cli.run(['export', '--status', 'lost'])).toMatchObject({
      status: 2,
      err: "animal-store: option '--status <status>' argument 'lost' is invalid. Allowed choices are available, pending, sold (see animal-store export --help)\n",
    });
  });

  test('ends quietly when the reader has gone, and fails when the disk is full', async () => {
    const cli = await withRex();
    expect(await cli.run(['export'], { stdout: failingOutput('EPIPE') })).toEqual({
      status: 0,
      out: '',
      err: '',
    });
    expect(await cli.run(['export'], { stdout: failingOutput('ENOSPC') })).toEqual(
      failed(1, 'standard output cannot be written: ENOSPC: no'),
    );
  });
});

describe('export --follow', () => {
  test('writes earlier and later pets as lines, and ends with the signal', async () => {
    const cli = await withRex();
    const store = openSqliteStore(cli.path);
    const controller = new AbortController();
    const lines: string[] = [];
    const stdout = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    });
    const args = ['export', '--follow', '--status', 'sold', '--after', '1'];
    const running = cli.run(args, { stdout, signal: controller.signal });
    await store.createPet({ name: 'Mia', categoryId: 1n, status: 'sold' });
    await expect.poll(() => lines).toEqual(['{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n']);
    await store.createPet({ name: 'Tom', categoryId: 1n, status: 'sold' });
    await expect.poll(() => lines).toHaveLength(2);
    controller.abort();
    expect(await running).toEqual({ status: 0, out: '', err: '' });
    await store.close();
  });

  test.each([
    [['--after', '1'], '--after requires --follow'],
    [['--follow', '--after', '1.5'], "--after: expected the id of a pet, such as 7, got '1.5'"],
    [['--follow', '--gzip'], "option '--follow' cannot be used with option '--gzip'"],
    [['--follow', '--output', 'x'], "option '--follow' cannot be used with option '--output <file>'"],
  ])('refuses %j', async (args, message) => {
    const { status, err } = await (await withRex()).run(['export', ...args]);
    expect([status, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('the signal', () => {
  test('cancels an import that waits for its input, and leaves no file', async () => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const end = new AbortController();
    const stdin = new Readable({ read() {} });
    stdin.push(line('Mia'));
    const running = cli.run(['import', '--create-store', '--skip-invalid', '-'], {
      stdin,
      signal: end.signal,
    });
    await delay(50);
    end.abort();
    expect(await running).toEqual(failed(1, 'interrupted; nothing was imported'));
    expect(stdin.destroyed).toBe(true);
    expect(await exportOf(cli)).toBe(before);
  });

  test('cancels an import while the store is opened', async () => {
    const cli = await withRex();
    const end = new AbortController();
    const run = await cli.run(['import', '-'], {
      stdin: line('Mia'),
      signal: end.signal,
      async openStore() {
        end.abort();
        await delay(20);
        return openSqliteStore(cli.path);
      },
    });
    expect(run).toEqual(failed(1, 'interrupted; nothing was imported'));
  });

  test('cancels an export that waits for its reader', async () => {
    const cli = await withRex();
    const end = new AbortController();
    const stdout = new Writable({ write: () => end.abort() });
    expect(await cli.run(['export'], { stdout, signal: end.signal })).toEqual(
      failed(1, 'interrupted; the export is not complete'),
    );
  });

  test('cancels a backup, and leaves no file', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'copy.db');
    expect(await cli.run(['backup', file], { signal: AbortSignal.abort() })).toEqual(
      failed(1, 'interrupted; nothing was backed up'),
    );
    expect(readdirSync(dirname(cli.path))).toEqual(['pets.db']);
  });
});

describe('backup', () => {
  test('prints its size', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'copy.db');
    const { status, out, err } = await cli.run(['backup', file, '--json']);
    expect([status, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({ file, bytes: statSync(file).size, milliseconds: expect.any(Number) });
    expect(await exportOf(commandLine(file))).toBe(await exportOf(cli));
  });

  test('replaces a file only with --force', async () => {
    const cli = await withRex();
    const file = join(dirname(cli.path), 'copy.db');
    writeFileSync(file, 'precious');
    expect(await cli.run(['backup', file])).toEqual(failed(2, `${file} exists already: --force replaces it`));
    expect(readFileSync(file, 'utf8')).toBe('precious');
    const { out } = await cli.run(['backup', '--force', file]);
    expect(out).toMatch(/^Backed up to .*copy\.db: [\d,]+ bytes in [\d.]+ m?s\.\n$/);
    expect(await exportOf(commandLine(file))).toBe(await exportOf(cli));
  });
});
