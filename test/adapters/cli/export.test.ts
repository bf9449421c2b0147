import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { wholeJson, withRequired } from '../../support/pets.ts';
import { failed, line, openSqliteStore, storeOf, withRex } from './cli.ts';

const MIA = wholeJson('{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n');

test('export --status', async () => {
  const cli = await storeOf(line('Rex') + line('Mia', ',"status":"sold"'));
  const { out, err } = await cli.run(['export', '--status', 'sold']);
  expect([out, err]).toEqual([MIA, 'Exported 1 pet.\n']);
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
  await store.createPet(withRequired({ name: 'Mia', categoryId: 1n, status: 'sold' }));
  await expect.poll(() => lines).toEqual([MIA]);
  await store.createPet(withRequired({ name: 'Tom', categoryId: 1n, status: 'sold' }));
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
