import { beforeEach, describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { ImportPets } from '../../src/application/import-pets.ts';
import { idsNotAccepted } from '../../src/application/ports/pet-transfer.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { type ImportedPet, newPet } from '../../src/domain/pet.ts';
import { oneByOne } from '../../src/testing/fixtures/transfers.ts';
import { BARE_REX, INVALID_PETS, REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

let storage: Storage;
let importPets: ImportPets;

beforeEach(() => {
  storage = openMemoryStorage();
  importPets = new ImportPets(storage.transfer);
});

const [{ input: WRONG, message: REASON }, { input: ALSO_WRONG, message: OTHER_REASON } = INVALID_PETS[0]] =
  INVALID_PETS;

async function stored() {
  return (await storage.pets.list({ limit: 100 })).pets;
}

/** Runs an import, and returns what it refused. */
async function refusals(...batches: ImportedPet[][]): Promise<[pet: ImportedPet, reason: string][]> {
  const refused: [ImportedPet, string][] = [];
  const onRefused = (pet: ImportedPet, reason: string) => refused.push([pet, reason]);
  await importPets.execute(oneByOne(batches), { onRefused });
  return refused;
}

test('stores pets without ids, with the defaults', async () => {
  expect(
    await importPets.execute(oneByOne<ImportedPet>([[BARE_REX, REX], [{ ...BARE_REX, id: undefined }]])),
  ).toBe(3);
  const bare = newPet(BARE_REX);
  expect(await stored()).toEqual([
    { ...bare, id: 1n },
    { ...REX, id: 2n },
    { ...bare, id: 3n },
  ]);
});

describe('a pet that breaks a rule', () => {
  test('is reported with the reason and left out, and can be missing', async () => {
    const nothing = null as unknown as ImportedPet;
    expect(await refusals([REX, WRONG], [ALSO_WRONG, nothing, REX])).toEqual([
      [WRONG, REASON],
      [ALSO_WRONG, OTHER_REASON],
      [nothing, expect.stringMatching(/^expected a pet, an object with/)],
    ]);
    expect(await stored()).toHaveLength(2);
  });

  test('ends the import when there is no callback, and when it throws', async () => {
    await expect(importPets.execute(oneByOne([[REX], [REX, WRONG]]))).rejects.toThrow(
      refusal(`pet 3 of the import: ${REASON}`),
    );
    const onRefused = () => expect.unreachable('the callback failed');
    await expect(importPets.execute(oneByOne([[REX, WRONG]]), { onRefused })).rejects.toThrow(
      'the callback failed',
    );
    expect(await stored()).toEqual([]);
  });
});

describe('a mixture of pets with and without an id', () => {
  const seven = { ...REX, id: 7n };

  test('is refused for the pets that differ from the first one, also in later batches', async () => {
    const reason = 'id is required: either all pets have an id or none has';
    expect(await refusals([seven, REX], [REX])).toEqual([
      [REX, reason],
      [REX, reason],
    ]);
  });

  test('is refused for pets with an id after one without, whatever was refused before', async () => {
    expect(await refusals([{ ...WRONG, id: 1n }, REX, seven])).toEqual([
      [{ ...WRONG, id: 1n }, REASON],
      [seven, 'id must be left out: either all pets have an id or none has'],
    ]);
    expect((await stored()).map(({ id }) => id)).toEqual([1n]);
  });
});

test('a duplicate id ends the import when there is no callback, and is reported to it with the object from the batch', async () => {
  const one = { ...REX, id: 1n };
  await expect(importPets.execute(oneByOne([[one, one]]))).rejects.toThrow(refusal('duplicate id 1'));
  expect(await stored()).toEqual([]);
  const first = { ...REX, id: 1n, 'x-extra': 'first' };
  const second = { ...REX, id: 1n, 'x-extra': 'second' };
  const third = { ...REX, id: 1n, 'x-extra': 'third' };
  const refused = await refusals([first, second], [third]);
  expect(refused.map(([, reason]) => reason)).toEqual(['duplicate id 1', 'duplicate id 1']);
  expect(refused.map(([pet]) => pet)).toEqual([second, third]);
  expect(await stored()).toEqual([one]);
});

describe('a dry run', () => {
  test('resolves with the number of pets that can be imported, and stores none', async () => {
    const refused: string[] = [];
    const onRefused = (_: ImportedPet, reason: string) => refused.push(reason);
    const seven = { ...REX, id: 7n };
    const batches = oneByOne([[seven, { ...WRONG, id: 8n }], [seven]]);
    expect(await importPets.execute(batches, { dryRun: true, onRefused })).toBe(1);
    expect(refused).toEqual([REASON, 'duplicate id 7']);
    expect(await stored()).toEqual([]);
  });

  test('rejects like an import', async () => {
    await storage.pets.add(REX);
    await expect(importPets.execute(oneByOne([[WRONG]]), { dryRun: true })).rejects.toThrow(REASON);
    const withIds = importPets.execute(oneByOne([[{ ...REX, id: 7n }]]), { dryRun: true });
    await expect(withIds).rejects.toEqual(idsNotAccepted());
    expect(await stored()).toHaveLength(1);
  });
});
