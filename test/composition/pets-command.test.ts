/** `animal-store pets` on the stores of each kind, and on the address of a server. */

import { describe, expect, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { createCommands } from '../../src/composition/commands.ts';
import { AnimalStoreError } from '../../src/domain/errors.ts';
import { commandLine, failed, inMemory } from '../adapters/cli/cli.ts';
import { REQUIRED_OPTIONS, wholeJson, withRequired } from '../support/pets.ts';
import { STORAGES } from '../support/server.ts';
import { environmentOf, startInProcess } from '../support/service.ts';

const KINDS: readonly string[] = [...STORAGES, 'server'];

const BIG = '9007199254740993';

async function cliOf(kind: string) {
  if (kind === 'memory') return inMemory();
  if (kind !== 'server') {
    const { openStore } = createCommands(await environmentOf(kind as (typeof STORAGES)[number]), '1.0.0');
    // The command line closes the store after each command.
    return commandLine('', { openStore });
  }
  const service = await startInProcess({ ...(await environmentOf('memory')), FIRST_KEY: 'print' });
  const environment = { DATABASE_URL: service.url, API_KEY: service.firstKey?.key };
  return commandLine('', createCommands(environment, '1.0.0'));
}

describe.each(KINDS)('pets with %s', (kind) => {
  test('are created, read and listed, with exact integers', async () => {
    const { run } = await cliOf(kind);
    const create = async (...args: string[]) => run(['pets', 'create', ...REQUIRED_OPTIONS, ...args]);
    const rex = ['--name', 'Rex', '--category-id', BIG];
    const first = await create(...rex, ...(kind === 'server' ? [] : ['--create-store']));
    expect([first.status, first.err]).toEqual([0, '']);
    const table = /^ID {2}NAME {2}CATEGORY {10}STATUS\b.*\n1 {3}Rex {3}9007199254740993 {2}available\b.*\n$/;
    expect(first.out).toMatch(table);
    const once = [...rex, '--status', 'sold', '--idempotency-key', 'k', '--json'];
    const pet = wholeJson(`{"id":2,"name":"Rex","categoryId":${BIG},"status":"sold"}`);
    expect(await create(...once)).toEqual({ status: 0, out: `${pet}\n`, err: '' });
    await create('--name', 'Mia', '--category-id', '-5');
    const again = await create(...once);
    expect([again.out, again.err]).toEqual([
      `${pet}\n`,
      expect.stringMatching(/^This pet was created earlier/),
    ]);
    const other = await create('--name', 'Max', '--category-id', '-5', '--idempotency-key', 'k');
    expect([other.status, other.err]).toEqual([1, expect.stringContaining('was used for a different pet')]);

    expect(await run(['pets', 'get', '2', '--json'])).toEqual({ status: 0, out: `${pet}\n`, err: '' });
    expect(await run(['pets', 'get', '9'])).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/^animal-store: /),
    });
    const mia = wholeJson('{"id":3,"name":"Mia","categoryId":-5,"status":"available"}');
    const all = `[\n${pet.replace('2', '1').replace('sold', 'available')},\n${pet},\n${mia}\n]\n`;
    for (const args of [['--json'], ['--json', '--all']])
      expect((await run(['pets', 'list', ...args])).out).toBe(all);
    const page = await run(['pets', 'list', '--limit', '1', '--after', '1']);
    expect(page.out).toMatch(/^ID +NAME +CATEGORY +STATUS\b.*\n2 +Rex +\d+ +sold\b.*\n$/);
    expect(page.err).toBe('More pets follow: --after 2 shows the next page, --all shows all.\n');
    const none = await run(['pets', 'list', '--status', 'pending']);
    expect([none.out, none.err]).toEqual(['', 'No pet matches.\n']);
    expect((await run(['pets', 'list', '--status', 'pending', '--json'])).out).toBe('[]\n');
  });
});

test.each(KINDS.filter((kind) => kind !== 'memory'))('import copies a store: %s', async (kind) => {
  const served = await environmentOf(kind === 'server' ? 'memory' : (kind as (typeof STORAGES)[number]));
  const service = await startInProcess({ ...served, FIRST_KEY: 'print' });
  const headers = { Authorization: `Bearer ${service.firstKey?.key}`, 'Content-Type': 'application/json' };
  for (const name of ['Rex', 'Mia'])
    await fetch(`${service.url}/pets`, {
      method: 'POST',
      headers,
      body: wholeJson(`{"name":"${name}","categoryId":${BIG}}`),
    });
  const address = kind === 'server' ? service.url : served['DATABASE_URL'];
  const { path } = commandLine();
  const environment = { DATABASE_URL: `sqlite:${path}`, API_KEY: service.firstKey?.key };
  const { run } = commandLine(path, createCommands(environment, '1.0.0'));
  const { status, out, err } = await run(['import', '--create-store', address ?? '']);
  expect([status, out], err).toEqual([0, expect.stringMatching(/^Imported 2 pets from /)]);
  expect((await run(['export'])).out).toContain(`{"id":2,"name":"Mia","categoryId":${BIG},`);
});

test('a list of all pets has one head', async () => {
  const { run, openStore } = inMemory();
  const store = openStore();
  for (let count = 0; count < 250; count++) {
    const name = count < 100 ? 'a long name \u001b[31m' : 'Rex';
    await store.createPet(withRequired({ name, categoryId: 1n }));
  }
  const { out } = await run(['pets', 'list', '--all']);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(251);
  expect(lines.filter((line) => line.includes('NAME'))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(/^250 +Rex +1 +available\b/);
  expect(out).not.toContain('\u001b[31m');
});

test('a create of an unknown outcome names the key with which it can be repeated', async () => {
  const storage = openMemoryStorage();
  const add = vi.spyOn(storage.pets, 'add');
  const create = () =>
    inMemory(storage).run(['pets', 'create', ...REQUIRED_OPTIONS, '--name', 'Rex', '--category-id', '1']);
  for (const [details, message] of [
    [{ idempotencyKey: 'k' }, 'lost: add --idempotency-key k'],
    [{}, 'lost'],
  ] as const) {
    add.mockRejectedValueOnce(new AnimalStoreError('storage_unavailable', 'lost', details));
    expect(await create()).toEqual(failed(1, message));
  }
});
