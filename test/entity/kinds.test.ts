/** The values that each kind of attribute accepts, returns and refuses: over HTTP, with the client, and with the command. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { openApiStorage } from '../../src/adapters/api-client/index.ts';
import { openSqliteStorage } from '../../src/adapters/sqlite/index.ts';
import { petOf, valuesOf } from '../../src/adapters/storage-kit/pet-rows.ts';
import { invalidPetProblems } from '../../src/adapters/storage-kit/problems.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES, type Pet, storedPet } from '../../src/domain/pet.ts';
import { changePet, type PetChange } from '../../src/domain/pet-change.ts';
import { newPetJson, parsePet, petChangeJson, petJson } from '../../src/domain/pet-json.ts';
import { randomPet } from '../../src/testing/differential/pet-operations.ts';
import { addAll, sampleValues } from '../../src/testing/fixtures/pets.ts';
import { randomNumbers } from '../../src/testing/random.ts';
import { inMemory } from '../adapters/cli/cli.ts';
import { openStorage, withSetting } from '../adapters/postgres/database.ts';
import { temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { CHANGING } from '../support/lifecycle.ts';
import { changeTo, optionName, optionsOf, REX as REX_PET } from '../support/pets.ts';
import { describePostgres, newDatabaseUrl, connect as openConnection } from '../support/postgres/index.ts';
import { STORAGES, sharedServer } from '../support/server.ts';
import { connect } from '../support/sqlite.ts';

const OPTIONAL = PET_ATTRIBUTES.filter((name) => name.startsWith('optional'));
const NONE = Object.fromEntries(OPTIONAL.map((name) => [name, null]));
const PETS = Array.from({ length: 20 }, (_, seed) => randomPet(randomNumbers(seed)));

describe.each(STORAGES)('each kind, on %s', (kind) => {
  const server = sharedServer(kind, { ...CHANGING });
  const patch = (id: bigint, body: string) =>
    server.client.request('PATCH', `/v1/pets/${id}`, {
      body,
      headers: { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' },
    });

  test('a pet is created, read, listed and changed exactly', async () => {
    for (let pet of PETS) {
      const created = await server.client.post(newPetJson(pet));
      const { id } = parsePet(created.body);
      expect([created.status, created.body]).toEqual([201, petJson(storedPet(id, pet))]);
      expect((await server.client.get(`/v1/pets/${id}`)).body).toBe(created.body);
      expect((await server.client.get(`/v1/pets?after=${id - 1n}`)).body).toBe(`[${created.body}]`);
      for (const change of [NONE, { ...NONE, ...changeTo(PETS[7] as NewPet) }] as PetChange[]) {
        const expected = changePet(storedPet(id, pet), change);
        expect((await patch(id, petChangeJson(change))).body).toBe(petJson(expected));
        pet = expected;
      }
    }
  });

  test('the client creates, reads and changes the same pets', async () => {
    const store = new AnimalStore(openApiStorage(`${server.origin}/v1`, { apiKey: server.key }));
    onTestFinished(() => store.close());
    for (const pet of PETS) {
      const stored = await store.createPet(pet);
      expect(await store.getPet(stored.id)).toEqual({ ...pet, id: stored.id });
      const { pet: changed } = await store.changePet(stored.id, NONE);
      expect(changed).toEqual(await server.store.getPet(stored.id));
      for (const name of OPTIONAL) expect(changed).not.toHaveProperty(name);
    }
  });
});

test('the command creates and changes the same pets', async () => {
  const { run } = inMemory();
  for (const pet of PETS) {
    const { out } = await run(['pets', 'create', '--json', ...optionsOf(pet)]);
    const stored = parsePet(out);
    expect(out).toBe(`${petJson(storedPet(stored.id, pet))}\n`);
    const change = changeTo(PETS[0] as NewPet);
    await run(['pets', 'change', `${stored.id}`, ...optionsOf(change)]);
    const removals = OPTIONAL.map((name) => `--no-${optionName(name)}`);
    const changed = await run(['pets', 'change', `${stored.id}`, ...removals, '--json']);
    expect(changed.out).toBe(`${petJson(changePet(stored, { ...change, ...NONE }))}\n`);
  }
  const { out: help } = await run(['pets', 'change', '--help']);
  expect(help.match(/--no-[\w-]+ .*/g)?.map((line) => line.replace(/ +/, ' '))).toEqual(
    OPTIONAL.map((name) => `--no-${optionName(name)} remove the ${name}`),
  );
  const refused = await run(['pets', 'change', '1', '--optional-boolean=1']);
  expect(refused.err).toMatch(/ argument '1' is invalid\. optionalBoolean must be true or false /);
});

test('what another program has stored in the wrong form is named', () => {
  const row = [1n, ...valuesOf(PETS[0] as NewPet)];
  const spoiled = (name: string, value: unknown) =>
    invalidPetProblems([petOf(row.with(1 + PET_ATTRIBUTES.indexOf(name as keyof NewPet), value as never))])[0]
      ?.message;
  expect(spoiled('requiredBoolean', 2n)).toMatch(/requiredBoolean must be true or false$/);
  expect(spoiled('requiredTimestamp', '2024-02-29T00:00:00Z')).toMatch(/not written as this store does$/);
});

const TIMES = sampleValues(ATTRIBUTES['requiredTimestamp' as keyof NewPet]).map((time) => ({
  ...REX_PET,
  requiredTimestamp: time as string,
}));
const ORDERED = 'SELECT id FROM pets ORDER BY required_timestamp';

function expectOrder(pets: readonly Pet[], rows: readonly unknown[]): void {
  expect(pets).toMatchObject(TIMES);
  const times = (rows as { id: unknown }[]).map(({ id }) => TIMES[Number(id) - 1]?.requiredTimestamp);
  expect(times).toEqual(TIMES.map(({ requiredTimestamp }) => requiredTimestamp).toSorted());
}

test('SQLite orders times', async () => {
  const path = temporaryFile();
  const storage = openSqliteStorage(path);
  onTestFinished(() => storage.close());
  expectOrder(await addAll(storage.pets, TIMES), connect(path).prepare(ORDERED).all());
});

describePostgres('PostgreSQL', () => {
  test('orders times, and gives them back exactly, whatever the settings of a role are', async () => {
    const url = await newDatabaseUrl();
    const own = withSetting(withSetting(url, 'TimeZone', 'America/New_York'), 'DateStyle', 'German');
    const { pets } = await openStorage(own);
    await addAll(pets, TIMES);
    expectOrder(
      (await pets.list({ limit: 100 })).pets,
      (await (await openConnection(url)).query(ORDERED)).rows,
    );
  });
});
