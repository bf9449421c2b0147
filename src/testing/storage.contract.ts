/** The tests (contract cases) that every `StoreStorage` must pass, for any test runner. */

import assert from 'node:assert/strict';
import type { StoreStorage } from '../application/ports/storage.ts';
import { INT64_MAX } from '../domain/int64.ts';
import { backingUp, type StorageSubject } from './backup.contract.ts';
import { type ContractCase, contractCases, lastingCase, type Subject } from './contract.ts';
import { attempt } from './fixtures/attempts.ts';
import { draft } from './fixtures/keys.ts';
import { samplePet, samplePets } from './fixtures/pets.ts';
import { exported, importPets, inBatches } from './fixtures/transfers.ts';

export type { StorageSubject } from './backup.contract.ts';

/** Returns all tests that a `StoreStorage` must pass. They skip the ports that it lacks. */
export function storageContract(subject: StorageSubject): ContractCase[] {
  return [...checking(subject), ...closing(subject), ...backingUp(subject)];
}

function checking(subject: Subject<StoreStorage>): ContractCase[] {
  return contractCases(subject, {
    'when all ids have been assigned, no pet is stored, and the check says so': async (storage) => {
      if (storage.transfer === undefined) return;
      const [pet, last] = [samplePet('Rex'), { id: INT64_MAX }];
      await importPets(storage, inBatches([{ ...pet, ...last }]));
      const refused = { code: 'storage_unavailable', reason: 'ids_exhausted' };
      await assert.rejects(storage.pets.add(pet), refused);
      await assert.rejects(storage.check(), refused);
      assert.deepEqual((await storage.pets.list({ limit: 2 })).pets, [{ ...last, ...pet }]);
    },
  });
}

function closing(subject: Subject<StoreStorage>): ContractCase[] {
  return [
    ...contractCases(subject, {
      'check resolves until close, which can be repeated, and then every method rejects': async (storage) => {
        await storage.check();
        const { pets, apiKeys, idempotentCreates, idempotencyRecords } = storage;
        const [key, about] = draft('Anna');
        const old = await apiKeys?.add(key, about);
        const pet = await pets.add(samplePet('Rex'));
        await apiKeys?.find(key);
        await pets.list({ limit: 20 });
        await Promise.all([storage.check(), storage.check(), storage.check()]);
        await Promise.all([storage.close(), storage.close()]);
        await storage.close();
        const calls: Readonly<Record<string, () => Promise<unknown> | undefined>> = {
          'pets.add': () => pets.add(samplePet('Rex')),
          'pets.find': () => pets.find(pet.id),
          'pets.list': () => pets.list({ limit: 20 }),
          'idempotentCreates.add': () => idempotentCreates?.add(samplePet('Rex'), attempt('a')),
          'idempotencyRecords.count': () => idempotencyRecords?.count(),
          'idempotencyRecords.removeRecords': () => idempotencyRecords?.removeRecords(9),
          'apiKeys.find': () => apiKeys?.find(key),
          'apiKeys.add': () => apiKeys?.add(...draft('Bert')),
          'apiKeys.addFirst': () => apiKeys?.addFirst(...draft('Bert')),
          'apiKeys.replace': () => old && apiKeys?.replace(old, Date.now(), ...draft('Anna')),
          'apiKeys.revoke': () => old && apiKeys?.revoke(old.id, Date.now()),
          'apiKeys.setLastUsedOn': () => old && apiKeys?.setLastUsedOn(old.id, 0),
          'apiKeys.list': () => apiKeys?.list(),
          check: () => storage.check(),
        };
        for (const [name, call] of Object.entries(calls)) {
          if (storage[name.split('.')[0] as keyof StoreStorage] === undefined) continue;
          await assert.rejects(async () => call(), { code: 'storage_unavailable' }, name);
        }
      },

      'an import and an export reject with storage_unavailable after close': async (storage) => {
        if (storage.transfer === undefined) return;
        await storage.close();
        const closed = { code: 'storage_unavailable' };
        await assert.rejects(importPets(storage, inBatches(samplePets(3))), closed);
        await assert.rejects(exported(storage.transfer), closed);
      },

      'writes that were accepted before close are completed': async (storage) => {
        const adding = samplePets(200).map((pet) => storage.pets.add(pet));
        const addingKey = storage.apiKeys?.add(...draft('Anna'));
        await storage.close();
        assert.equal(new Set((await Promise.all(adding)).map(({ id }) => id)).size, 200);
        assert.equal((await addingKey)?.name, addingKey && 'Anna');
      },

      'close ends an import that is reading batches': async (storage) => {
        if (storage.transfer === undefined) return;
        const batches = (async function* () {
          yield samplePets(5);
          await storage.close();
          yield samplePets(5);
        })();
        await assert.rejects(importPets(storage, batches), {
          code: 'storage_unavailable',
        });
      },
    }),

    ...lastingCase(
      subject,
      'writes that were completed by close are stored',
      async (storage) => {
        const adding = samplePets(200).map((pet) => storage.pets.add(pet));
        await storage.close();
        return Promise.all(adding);
      },
      async (storage, added) => {
        for (const pet of added) assert.deepEqual(await storage.pets.find(pet.id), pet);
      },
    ),
  ];
}
