import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { wholeJson, withRequired } from '../../support/pets.ts';
import {
  commandLine,
  exportOf,
  failed,
  failingOutput,
  line,
  openSqliteStore,
  storeOf,
  withRex,
} from './cli.ts';

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
    expect(out).toBe(wholeJson('{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n'));
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
    await store.createPet(withRequired({ name: 'Mia', categoryId: 1n, status: 'sold' }));
    await expect
      .poll(() => lines)
      .toEqual([wholeJson('{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n')]);
    await store.createPet(withRequired({ name: 'Tom', categoryId: 1n, status: 'sold' }));
    await expect.poll(() => lines).toHaveLength(2);
    controller.abort();
    expect(await running).toEqual({ status: 0, out: '', err: '' });
    await store.close();
  });
});

describe('the signal', () => {
  test('cancels an export that waits for its reader', async () => {
    const cli = await withRex();
    const end = new AbortController();
    const stdout = new Writable({ write: () => end.abort() });
    expect(await cli.run(['export'], { stdout, signal: end.signal })).toEqual(
      failed(1, 'interrupted; the export is not complete'),
    );
  });
});
