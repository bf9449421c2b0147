import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { exportOf, failed, inMemory, line, openSqliteStore, storeOf, withRex } from './cli.ts';

describe('export', () => {
  test('writes the same bytes after an import into another store, in another engine too', async () => {
    const stdin = Array.from({ length: 2500 }, (_, index) =>
      line(`é🐈 "${index}"`, ',"status":"pending"'),
    ).join('');
    const text = await exportOf(await storeOf(stdin));
    expect(await exportOf(await storeOf(text))).toBe(text);
    const memory = inMemory();
    await memory.run(['import', '-'], { stdin: text });
    expect(await exportOf(memory)).toBe(text);
  });

  test('--status', async () => {
    const cli = await storeOf(line('Rex') + line('Mia', ',"status":"sold"'));
    const { out, err } = await cli.run(['export', '--status', 'sold']);
    expect(out).toBe('{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n');
    expect(err).toBe('Exported 1 pet.\n');
  });
});

test('export --follow writes earlier and later pets as lines, and ends with the signal', async () => {
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

test('the signal cancels an export that waits for its reader', async () => {
  const cli = await withRex();
  const end = new AbortController();
  const stdout = new Writable({ write: () => end.abort() });
  expect(await cli.run(['export'], { stdout, signal: end.signal })).toEqual(
    failed(1, 'interrupted; the export is not complete'),
  );
});
