/** `animal-store pets` on the stores of each kind, and on the address of a server. */

import { expect, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { unknownOutcome } from '../../src/application/until-aborted.ts';
import { createCommands } from '../../src/composition/commands.ts';
import { ATTRIBUTES, type NewPet, type NewPetInput, newPet, PET_ATTRIBUTES } from '../../src/domain/pet.ts';
import { PET_FILTERS } from '../../src/domain/pet-filter.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { samplePet, sampleValues } from '../../src/testing/fixtures/pets.ts';
import { SERVER } from '../adapters/api-client/server.ts';
import { commandLine, failed, inMemory } from '../adapters/cli/cli.ts';
import { BARE_REX, optionsOf } from '../support/pets.ts';
import { STORAGES } from '../support/server.ts';
import { environmentOf, startInProcess } from '../support/service.ts';

const KINDS: readonly string[] = [...STORAGES, SERVER];

/** A pet whose integers are beyond 2^53, where the attributes allow it. */
const REX = samplePet('Rex', 2n ** 53n + 1n);
const MIA = samplePet('Mia', 5n);

/** The row of a pet in a table. */
function rowOf(id: number, pet: NewPet): RegExp {
  const values = PET_ATTRIBUTES.flatMap((name) => (pet[name] === undefined ? [] : [String(pet[name])]));
  return new RegExp(`^${[id, ...values].join(' +')} *$`, 'm');
}

/** The options of a filter that matches no pet of these tests, if there is one. */
const NO_MATCH = PET_FILTERS.flatMap((name) =>
  sampleValues(ATTRIBUTES[name])
    .filter((value) => ![REX, MIA, newPet(BARE_REX)].some((pet) => pet[name] === value))
    .map((value) => optionsOf({ [name]: value } as Partial<NewPet>)),
)[0] ?? ['--after', '9'];

async function cliOf(kind: string) {
  if (kind === 'memory') return inMemory();
  if (kind !== 'server') {
    const { openStore } = createCommands(await environmentOf(kind as (typeof STORAGES)[number]), '1.0.0');
    // The command line closes the store after each command.
    return commandLine('', { openStore });
  }
  const service = await startInProcess(await environmentOf('memory'));
  const environment = { DATABASE_URL: service.url, API_KEY: service.firstKey?.key };
  return commandLine('', createCommands(environment, '1.0.0'));
}

test.each(KINDS)('pets with %s are created, read and listed, with exact integers', async (kind) => {
  const { run } = await cliOf(kind);
  const create = async (pet: NewPetInput, ...args: string[]) =>
    run(['pets', 'create', ...optionsOf(pet), ...args]);
  const first = await create(BARE_REX, ...(kind === 'server' ? [] : ['--create-store']));
  expect([first.status, first.err]).toEqual([0, '']);
  expect(first.out).toMatch(rowOf(1, newPet(BARE_REX)));
  const once = ['--idempotency-key', 'k', '--json'];
  const pet = petJson({ id: 2n, ...REX });
  expect(await create(REX, ...once)).toEqual({ status: 0, out: `${pet}\n`, err: '' });
  await create(MIA);
  const again = await create(REX, ...once);
  expect([again.out, again.err]).toEqual([
    `${pet}\n`,
    expect.stringMatching(/^This pet was created earlier/),
  ]);
  const other = await create(MIA, '--idempotency-key', 'k');
  expect([other.status, other.err]).toEqual([1, expect.stringContaining('was used for a different pet')]);

  expect(await run(['pets', 'get', '2', '--json'])).toEqual({ status: 0, out: `${pet}\n`, err: '' });
  expect(await run(['pets', 'get', '9'])).toMatchObject({
    status: 1,
    out: '',
    err: expect.stringMatching(/^animal-store: /),
  });
  const all = `[\n${petJson({ id: 1n, ...newPet(BARE_REX) })},\n${pet},\n${petJson({ id: 3n, ...MIA })}\n]\n`;
  for (const args of [['--json'], ['--json', '--all']])
    expect((await run(['pets', 'list', ...args])).out).toBe(all);
  const page = await run(['pets', 'list', '--limit', '1', '--after', '1']);
  expect(page.out.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^ID /),
    expect.stringMatching(rowOf(2, REX)),
  ]);
  expect(page.err).toBe('More pets follow: --after 2 shows the next page, --all shows all.\n');
  const none = await run(['pets', 'list', ...NO_MATCH]);
  expect([none.out, none.err]).toEqual(['', 'No pet matches.\n']);
  expect((await run(['pets', 'list', ...NO_MATCH, '--json'])).out).toBe('[]\n');
});

test('a list of all pets has one head, with which all pages are aligned', async () => {
  const { run, openStore } = inMemory();
  const store = openStore();
  for (let count = 0; count < 250; count++)
    await store.createPet(count < 100 ? samplePet('a long name \u001b[31m', 2n ** 53n + 1n) : REX);
  const { out } = await run(['pets', 'list', '--all']);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(251);
  expect(lines.filter((line) => line.startsWith('ID '))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(rowOf(250, REX));
  for (const start of [...(lines[0] ?? '').matchAll(/(?<= )\S+(?: \S+)*/g)].map(({ index }) => index))
    expect(lines.filter((line) => line.charAt(start - 1).trim() !== '')).toEqual([]);
  expect(out).not.toContain('\u001b[31m');
});

test('a create of an unknown outcome names the key with which it can be repeated', async () => {
  const storage = openMemoryStorage();
  const add = vi.spyOn(storage.pets, 'add');
  const create = () => inMemory(storage).run(['pets', 'create', ...optionsOf(REX)]);
  for (const [details, advice] of [
    [{ idempotencyKey: 'k$&' }, ': repeat the create with --idempotency-key k$&'],
    [{}, ''],
  ] as const) {
    add.mockRejectedValueOnce(unknownOutcome('create', 'lost', details));
    expect(await create()).toEqual(failed(1, `lost; the pet may be stored${advice}`));
  }
});
