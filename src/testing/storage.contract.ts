/** The tests (contract cases) that every `StoreStorage` must pass, for any test runner. */

import assert from 'node:assert/strict';
import type { StoreStorage } from '../application/ports/storage.ts';
import { INT64_MAX } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import { matches } from '../domain/pet-filter.ts';
import { backingUp, type StorageSubject } from './backup.contract.ts';
import { type ContractCase, contractCases, lastingCase, type Subject } from './contract.ts';
import { attempt, attemptOf } from './fixtures/attempts.ts';
import { FEW_FILTERS } from './fixtures/filters.ts';
import { draft } from './fixtures/keys.ts';
import { addAll, samplePet, samplePets, walk } from './fixtures/pets.ts';
import { exported, importPets, inBatches, petWithId } from './fixtures/transfers.ts';

export type { StorageSubject } from './backup.contract.ts';

/** Returns all tests that a `StoreStorage` must pass. The tests skip the ports that the storage lacks. */
export function storageContract(subject: StorageSubject): ContractCase[] {
  return [...numbering(subject), ...closing(subject), ...backingUp(subject)];
}

type FourPets = [Pet, Pet, Pet, Pet];

/** Calls by name, such as `pets.add`. A call of a port that the storage lacks returns `undefined`. */
type Calls = Readonly<Record<string, () => Promise<unknown> | undefined>>;

const changed = (pet: Pet): Pet => ({ ...pet, ...samplePet('changed', 2n) });

/** Returns a write of each kind. Changes and removals are made to the four pets, which must not have changed before. */
function writesTo(storage: StoreStorage, [a, b, c, d]: FourPets): Calls {
  const { pets, changes, idempotentCreates, idempotentChanges } = storage;
  return {
    'pets.add': () => pets.add(samplePet('Rex')),
    'idempotentCreates.add': () => idempotentCreates?.add(samplePet('Rex'), attempt('a')),
    'changes.replace': () => changes?.replace(changed(a), a.id),
    'changes.remove': () => changes?.remove(b.id, b.id),
    'idempotentChanges.replace': () => idempotentChanges?.replace(changed(c), c.id, attemptOf('c')),
    'idempotentChanges.remove': () => idempotentChanges?.remove(d.id, d.id, attemptOf('d')),
  };
}

async function assertRefused(storage: StoreStorage, calls: Calls, expected: object): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    if (storage[name.split('.')[0] as keyof StoreStorage] === undefined) continue;
    await assert.rejects(async () => call(), expected, name);
  }
}

function numbering(subject: Subject<StoreStorage>): ContractCase[] {
  return contractCases(subject, {
    'when all numbers have been assigned, nothing is written, and the check says so': async (storage) => {
      if (storage.transfer === undefined) return;
      const all: FourPets = [petWithId(1n), petWithId(2n), petWithId(3n), petWithId(INT64_MAX)];
      await importPets(storage, inBatches(all));
      const calls = { ...writesTo(storage, all), check: () => storage.check() };
      await assertRefused(storage, calls, { code: 'storage_unavailable', reason: 'ids_exhausted' });
      assert.deepEqual((await storage.pets.list({ limit: 9 })).pets, all);
      for (const key of ['a', 'c', 'd'])
        assert.equal((await storage.idempotentChanges?.find(1n, attemptOf(key)))?.record, undefined, key);
    },

    'an import of ids is refused when the store has had a pet, even if it was removed': async (storage) => {
      const { pets, transfer, changes } = storage;
      if (transfer === undefined || changes === undefined) return;
      const meanwhile = (async function* () {
        yield [petWithId(9n)];
        const { id } = await pets.add(samplePet('Rex'));
        await changes.remove(id, id);
      })();
      for (const batches of [meanwhile, inBatches([petWithId(9n)])])
        await assert.rejects(importPets(storage, batches), { code: 'invalid_request' });
      assert.deepEqual((await pets.list({ limit: 9 })).pets, []);
    },

    'after each write, an export has the stored pets, and an import takes new numbers': async (storage) => {
      const { pets, transfer, changes } = storage;
      if (transfer === undefined || changes === undefined) return;
      const all = (await addAll(pets, samplePets(4))) as FourPets;
      for (const write of Object.values(writesTo(storage, all))) await write();
      const { lastNumber } = await changes.list({ limit: 1 });
      const stored = await walk(pets, { limit: 9 });
      for (const filter of FEW_FILTERS) {
        const expected = stored.filter((pet) => matches(pet, filter));
        assert.deepEqual(await exported(transfer, filter), expected);
      }
      await importPets(storage, inBatches(samplePets(1)));
      const imported = await walk(pets, { limit: 9, after: lastNumber });
      assert.equal(imported.length, 1, 'expected a number above those of all writes');
    },
  });
}

/** Closes the storage while writes of each kind are in flight. Asserts that all of them succeed. */
async function closeWhileWriting(storage: StoreStorage) {
  const before = (await addAll(storage.pets, samplePets(4))) as FourPets;
  const addKey = () => storage.apiKeys?.add(...draft('Anna'));
  const writes: Calls = { ...writesTo(storage, before), addKey };
  const [added, written] = await Promise.all([
    Promise.all(samplePets(200).map((pet) => storage.pets.add(pet))),
    Promise.all(Object.values(writes).flatMap((write) => write() ?? [])),
    storage.close(),
  ]);
  assert.equal(new Set(added.map(({ id }) => id)).size, 200);
  assert.ok(!written.includes(undefined), 'expected each write to succeed');
  return { before, added };
}

function closing(subject: Subject<StoreStorage>): ContractCase[] {
  return [
    ...contractCases(subject, {
      'check resolves until close, which can be repeated, and then every method rejects': async (storage) => {
        await storage.check();
        const { pets, apiKeys, idempotencyRecords, transfer, changes, idempotentChanges } = storage;
        const [key, about] = draft('Anna');
        const old = await apiKeys?.add(key, about);
        const all = (await addAll(pets, samplePets(4))) as FourPets;
        const [pet] = all;
        await apiKeys?.find(key);
        await pets.list({ limit: 20 });
        await Promise.all([storage.check(), storage.check(), storage.check()]);
        await Promise.all([storage.close(), storage.close()]);
        await storage.close();
        const calls: Calls = {
          ...writesTo(storage, all),
          'pets.find': () => pets.find(pet.id),
          'pets.list': () => pets.list({ limit: 20 }),
          'changes.find': () => changes?.find(pet.id),
          'changes.list': () => changes?.list({ limit: 20 }),
          ...(changes?.beginEpoch && { 'changes.beginEpoch': () => changes.beginEpoch?.() }),
          'idempotentChanges.find': () => idempotentChanges?.find(pet.id, attemptOf('a')),
          'idempotentChanges.record': () => idempotentChanges?.record(pet.id, pet, attemptOf('a')),
          'idempotencyRecords.count': () => idempotencyRecords?.count(),
          'idempotencyRecords.removeRecords': () => idempotencyRecords?.removeRecords(9),
          'transfer.importPets': () => importPets(storage, inBatches(samplePets(3))),
          'transfer.exportPets': () => transfer && exported(transfer),
          'apiKeys.find': () => apiKeys?.find(key),
          'apiKeys.add': () => apiKeys?.add(...draft('Bert')),
          'apiKeys.addFirst': () => apiKeys?.addFirst(...draft('Bert')),
          'apiKeys.replace': () => old && apiKeys?.replace(old, Date.now(), ...draft('Anna')),
          'apiKeys.revoke': () => old && apiKeys?.revoke(old.id, Date.now()),
          'apiKeys.setLastUsedOn': () => old && apiKeys?.setLastUsedOn(old.id, 0),
          'apiKeys.list': () => apiKeys?.list(),
          check: () => storage.check(),
        };
        await assertRefused(storage, calls, { code: 'storage_unavailable' });
      },

      'writes that were accepted before close are completed': async (storage) => {
        await closeWhileWriting(storage);
      },

      'close ends an import that is reading batches': async (storage) => {
        if (storage.transfer === undefined) return;
        const batches = (async function* () {
          yield samplePets(5);
          await storage.close();
          yield samplePets(5);
        })();
        await assert.rejects(importPets(storage, batches), { code: 'storage_unavailable' });
      },
    }),

    ...lastingCase(
      subject,
      'writes that were completed by close are stored',
      closeWhileWriting,
      async ({ pets, apiKeys, changes, idempotentCreates, idempotentChanges }, { before, added }) => {
        const [a, b, c, d] = before;
        const names = (await apiKeys?.list())?.map(({ name }) => name) ?? ['Anna'];
        assert.deepEqual(names, ['Anna']);
        const first = [...(changes ? [changed(a)] : [a, b]), ...(idempotentChanges ? [changed(c)] : [c, d])];
        const stored = (await pets.list({ limit: 4 })).pets.filter(({ id }) => id <= d.id);
        assert.deepEqual(stored, first);
        for (const pet of added) assert.deepEqual(await pets.find(pet.id), pet);
        const { isReplay = true } = (await idempotentCreates?.add(samplePet('Rex'), attempt('a'))) ?? {};
        assert.ok(isReplay, 'expected the record of the create');
        for (const key of ['c', 'd'])
          if (idempotentChanges !== undefined)
            assert.ok((await idempotentChanges.find(a.id, attemptOf(key))).record, `expected record ${key}`);
      },
    ),
  ];
}
