/** Tests of a store in a database after other programs, or servers of older releases, have written to it. */

import { expect, test } from 'vitest';
import { EXAMINED_LIMIT } from '../../src/adapters/storage-kit/changes-page.ts';
import type { Diagnosis } from '../../src/application/ports/maintenance.ts';
import { idsNotAccepted } from '../../src/application/ports/pet-transfer.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { importPets, inBatches } from '../../src/testing/fixtures/transfers.ts';
import { insertPets, MAX, REX } from './pets.ts';

interface OpenStore {
  readonly storage: Storage;
  /** Runs SQL on a connection of its own. */
  execute(sql: string): unknown;
  examine(): Diagnosis | Promise<Diagnosis>;
}

/** Opens empty stores, and has the SQL in which the databases differ. */
export interface TestDatabase {
  open(): Promise<OpenStore>;
  readonly lastIdIs: (id: bigint) => string;
  /** A trigger that drops each row of an event, such as `INSERT ON api_keys`. */
  readonly dropping: (event: string) => string;
  readonly endRecords: string;
}

const attempt = { caller: '1', key: 'a', validFor: 3_600_000 };
const CHANGE = { ...attempt, request: 'change' };
const CHANGED = { id: 1n, ...MAX };

const WRITES: readonly (readonly [statement: string, write: (storage: Storage) => Promise<unknown>])[] = [
  ['INSERT', ({ pets }) => pets.add(REX)],
  ['INSERT', ({ idempotentCreates }) => idempotentCreates.add(REX, attempt)],
  ['UPDATE', ({ changes }) => changes.replace(CHANGED, 1n)],
  ['UPDATE', ({ idempotentChanges }) => idempotentChanges.replace(CHANGED, 1n, CHANGE)],
  ['DELETE', ({ changes }) => changes.remove(1n, 1n)],
];

export function testDatabase({ open, lastIdIs, dropping, endRecords }: TestDatabase): void {
  test('a page examines a bounded number of pets, and those behind it follow', async () => {
    const { storage, execute } = await open();
    const count = EXAMINED_LIMIT + 50;
    await execute(`${insertPets(count)}
      INSERT INTO pet_revisions (pet_id, revision) SELECT id, id + 1000000 FROM pets WHERE id < ${count};
      ${lastIdIs(1_000_000n + BigInt(count))}`);
    const first = await storage.changes.list({ limit: 2 });
    expect(first).toMatchObject({ versions: [], upTo: BigInt(EXAMINED_LIMIT), more: true });
    const second = await storage.changes.list({ limit: 2, after: first.upTo });
    expect(second.versions.map(({ id }) => id)).toEqual([BigInt(count), 1n]);
  });

  test('when all numbers have been assigned, every write is refused, but a wrong revision is still a conflict', async () => {
    const { storage, execute, examine } = await open();
    const { pets, changes, idempotentChanges } = storage;
    const pet = await pets.add(REX);
    await execute(lastIdIs(INT64_MAX));
    for (const port of [changes, idempotentChanges])
      for (const wrong of [{ ...CHANGED, id: 2n }, CHANGED])
        expect(await port.replace(wrong, 2n, CHANGE)).toBeUndefined();
    for (const [, write] of WRITES)
      await expect(write(storage)).rejects.toMatchObject({
        code: 'storage_unavailable',
        reason: 'ids_exhausted',
      });
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    expect(await storage.idempotencyRecords.count()).toBe(0);
    const message = expect.stringMatching(/all ids have been assigned/);
    expect((await examine()).problems).toContainEqual({ severity: 'error', message });
  });

  test('no id is given twice: an import with ids is refused after another program has removed all pets', async () => {
    const { storage, execute } = await open();
    const pet = await storage.pets.add(REX);
    await execute('DELETE FROM pets');
    await expect(importPets(storage, inBatches([pet]))).rejects.toEqual(idsNotAccepted());
    expect((await storage.pets.add(REX)).id).toBe(2n);
  });

  test('a record of an older release falls back to the stored pet, and is of no other request', async () => {
    const { storage, execute } = await open();
    const retry = () => storage.idempotentCreates.add(REX, attempt);
    const { pet } = await retry();
    await execute('UPDATE idempotency_records SET request = NULL, response = NULL');
    expect(await retry()).toEqual({ pet, isReplay: true });
    const { record } = await storage.idempotentChanges.find(pet.id, CHANGE);
    expect(record).toEqual({ request: undefined, pet: undefined });
    await storage.changes.remove(pet.id, pet.id);
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('a retried create whose pet another program has removed gets its response, until its record ends', async () => {
    const { storage, execute } = await open();
    const retry = () => storage.idempotentCreates.add(REX, attempt);
    const { pet } = await retry();
    await execute('DELETE FROM pets');
    for (let times = 0; times < 2; times += 1) expect(await retry()).toEqual({ pet, isReplay: true });
    expect((await storage.pets.list({ limit: 1 })).pets).toEqual([]);
    await execute(endRecords);
    const again = await retry();
    expect(again.isReplay).toBe(false);
    expect(again.pet.id).toBeGreaterThan(pet.id);
  });

  test.each(WRITES)('a write whose %s a trigger of the operator drops is not confirmed', async (...row) => {
    const [statement, write] = row;
    const { storage, execute } = await open();
    const pet = await storage.pets.add(REX);
    await execute(dropping(`${statement} ON pets`));
    await expect(write(storage)).rejects.toMatchObject({ code: 'internal_error' });
    expect((await storage.pets.list({ limit: 9 })).pets).toEqual([pet]);
    expect((await storage.changes.find(pet.id))?.revision).toBe(pet.id);
    expect(await storage.idempotencyRecords.count()).toBe(0);
  });

  test('an API key whose row a trigger of the operator drops is not confirmed, and ends no other key', async () => {
    const { storage, execute } = await open();
    const { apiKeys } = storage;
    const about = { name: 'ci', prefix: 'x', createdAt: 1 };
    const old = await apiKeys.add('old', about);
    const before = await apiKeys.list();
    await execute(dropping('INSERT ON api_keys'));
    for (const add of [() => apiKeys.add('new', about), () => apiKeys.replace(old, 2, 'new', about)])
      await expect(add()).rejects.toMatchObject({ code: 'internal_error' });
    expect(await apiKeys.list()).toEqual(before);
  });

  test('after changes and removals, a store is sound, and so is an import of its export', async () => {
    const [{ storage, examine }, copy] = [await open(), await open()];
    const [pet, other] = [await storage.pets.add(REX), await storage.pets.add(REX)];
    await storage.changes.replace({ ...pet, ...MAX }, pet.id);
    await storage.changes.remove(other.id, other.id);
    await importPets(copy.storage, storage.transfer.exportPets());
    expect((await copy.storage.pets.list({ limit: 9 })).pets).toEqual([{ ...pet, ...MAX }]);
    for (const examined of [await examine(), await copy.examine()]) {
      expect(examined.pets).toBe(1);
      expect(examined.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    }
  });
}
