/** The contract of `PetTransfer`, as cases for any test runner. */

import assert from 'node:assert/strict';
import type { PetRepository, PetTransfer } from '../application/ports.ts';
import { INT64_MAX, INT64_MIN } from '../domain/int64.ts';
import type { NewPet, Pet } from '../domain/pet.ts';
import { type ContractCase, contractCase, lastingCase, type Subject } from './contract.ts';
import { addAll, animal, animals, assertAscending, byId, walk, whileWriting } from './pets.ts';
import { batchesOf, exported, inBatches, oneByOne, petWithId, withoutId } from './transfers.ts';

/** Both ports of one store: what one of them wrote, the other reads. */
export interface TransferStore {
  readonly pets: PetRepository;
  readonly transfer: PetTransfer;
}

/** Every case that an adapter must pass, over the way to get at it. */
export function petTransferContract(subject: Subject<TransferStore>): ContractCase[] {
  return [...importing(subject), ...failing(subject), ...exporting(subject), ...lasting(subject)];
}

function importing(subject: Subject<TransferStore>): ContractCase[] {
  return [
    contractCase(subject, 'animals without ids get new ones, in their order', async ({ pets, transfer }) => {
      const before = await addAll(pets, animals(3));
      const imported = animals(2500);
      assert.equal(await transfer.importPets(inBatches(imported, 1000)), 2500);
      const all = await walk(pets, { limit: 100 });
      assertAscending(all);
      assert.deepEqual(all.slice(0, 3), before);
      assert.deepEqual(all.slice(3).map(withoutId), imported);
    }),

    contractCase(subject, 'animals with ids keep them, in whatever order they come', async (store) => {
      const given = [petWithId(7n), petWithId(INT64_MAX - 1n), petWithId(2n), petWithId(2n ** 53n + 1n)];
      assert.equal(await store.transfer.importPets(inBatches(given, 2)), 4);
      assert.deepEqual(await exported(store.transfer), given.toSorted(byId));
      assert.deepEqual(await store.pets.find(2n ** 53n + 1n), given[3]);
      assert.equal((await store.pets.add(animal('next'))).id, INT64_MAX);
      await assert.rejects(store.pets.add(animal('none')), { code: 'storage_unavailable' });
      await assert.rejects(store.transfer.importPets(inBatches(animals(1))), { code: 'storage_unavailable' });
    }),

    contractCase(subject, 'what was imported is read at once', async ({ pets, transfer }) => {
      for (const count of [1, 2, 3]) {
        await pets.list({ limit: 100 });
        await pets.list({ limit: 100, status: 'available' });
        await transfer.importPets(inBatches(animals(1)));
        assert.equal((await pets.list({ limit: 100 })).pets.length, count);
        assert.equal((await pets.list({ limit: 100, status: 'available' })).pets.length, count);
      }
    }),

    contractCase(subject, 'others add while batches are awaited', async ({ pets, transfer }) => {
      await transfer.importPets(
        (async function* () {
          yield animals(2);
          await pets.add(animal('between'));
          yield animals(2);
        })(),
      );
      const names = (await walk(pets, { limit: 100 })).map(({ name }) => name);
      assert.deepEqual(names, ['between', 'animal 0', 'animal 1', 'animal 0', 'animal 1']);
    }),

    contractCase(subject, 'an id that comes again is told of, and left out', async ({ transfer }) => {
      const told: [Pet, number][] = [];
      let asked = 0;
      const batches = [
        [petWithId(1n), petWithId(1n, 'again')],
        [petWithId(2n), petWithId(1n, 'late')],
        [petWithId(3n)],
      ];
      const count = await transfer.importPets(
        (async function* () {
          for (const batch of batches) {
            asked += 1;
            yield batch;
          }
        })(),
        { onTaken: (pet) => told.push([pet, asked]) },
      );
      assert.equal(count, 3);
      assert.deepEqual(told, [
        [batches[0]?.[1], 1],
        [batches[1]?.[1], 2],
      ]);
      assert.ok(
        told.every(([pet]) => batches.flat().includes(pet)),
        'it is told of the object that was given',
      );
      assert.deepEqual(await exported(transfer), [petWithId(1n), petWithId(2n), petWithId(3n)]);
    }),

    contractCase(subject, 'tells how many are stored, up to all of them', async ({ transfer }) => {
      const told: number[] = [];
      await transfer.importPets(inBatches(animals(50)), { onStored: (count) => told.push(count) });
      assert.equal(told.at(-1), 50);
    }),

    contractCase(subject, 'nothing can be imported too', async ({ transfer }) => {
      assert.equal(await transfer.importPets(inBatches([])), 0);
      assert.equal(await transfer.importPets(oneByOne([[], []])), 0);
      assert.deepEqual(await exported(transfer), []);
    }),
  ];
}

/** Whatever goes wrong, the store is as it was, and goes on. */
function failing(subject: Subject<TransferStore>): ContractCase[] {
  const reason = new Error('that is enough');
  const failure = (
    name: string,
    before: readonly NewPet[],
    attempt: (transfer: PetTransfer) => Promise<unknown>,
    expected: object,
  ): ContractCase =>
    contractCase(subject, name, async ({ pets, transfer }) => {
      await addAll(pets, before);
      const state = await exported(transfer);
      await assert.rejects(attempt(transfer), expected);
      assert.deepEqual(await exported(transfer), state);
      const added = await pets.add(animal('after'));
      assert.deepEqual(await exported(transfer), [...state, added]);
      await transfer.importPets(inBatches(animals(2)));
      assert.equal((await walk(pets, { limit: 100 })).length, state.length + 3);
    });
  const aborted = (transfer: PetTransfer): Promise<unknown> => {
    const end = new AbortController();
    const batches = oneByOne(
      [animals(5), animals(5), animals(5)],
      (index) => index === 1 && end.abort(reason),
    );
    return transfer.importPets(batches, { signal: end.signal });
  };
  const throwing = (batch: readonly (NewPet | Pet)[]) =>
    oneByOne([batch, batch], (index) => {
      if (index === 1) throw reason;
    });
  const twice = [petWithId(1n), petWithId(2n), petWithId(1n)];

  return [
    failure('batches that fail', animals(4), (t) => t.importPets(throwing(animals(5))), reason),
    failure('batches with ids that fail', [], (t) => t.importPets(throwing([petWithId(5n)])), reason),
    failure('a signal', animals(4), aborted, reason),
    failure(
      'a signal from before',
      [],
      (t) => t.importPets(inBatches(animals(3)), { signal: AbortSignal.abort(reason) }),
      reason,
    ),
    failure('ids for a store that has animals', animals(1), (t) => t.importPets(inBatches([petWithId(9n)])), {
      code: 'invalid_request',
      message: /never had an animal/,
    }),
    failure('ids for some', [], (t) => t.importPets(inBatches([petWithId(9n), animal('Rex')])), {
      code: 'invalid_request',
    }),
    failure('ids for some, later', [], (t) => t.importPets(oneByOne([animals(1), [petWithId(9n)]])), {
      code: 'invalid_request',
    }),
    failure('an id that comes again, and nobody to be told', [], (t) => t.importPets(inBatches(twice)), {
      code: 'invalid_request',
      message: /id 1 is given twice/,
    }),
    failure(
      'an id that comes again, and is not wanted',
      [],
      (t) =>
        t.importPets(inBatches(twice), {
          onTaken() {
            throw reason;
          },
        }),
      reason,
    ),
    contractCase(subject, 'ids that somebody gave away meanwhile', async ({ pets, transfer }) => {
      const batches = (async function* () {
        yield [petWithId(1n), petWithId(2n)];
        await pets.add(animal('first'));
      })();
      await assert.rejects(transfer.importPets(batches), { code: 'invalid_request' });
      assert.deepEqual(
        (await walk(pets, { limit: 100 })).map(({ name }) => name),
        ['first'],
      );
    }),
  ];
}

function exporting(subject: Subject<TransferStore>): ContractCase[] {
  return [
    contractCase(
      subject,
      'gives every animal once, ascending, exactly as it is',
      async ({ pets, transfer }) => {
        for (const categoryId of [INT64_MIN, -1n, 2n ** 53n + 1n, INT64_MAX]) {
          await pets.add(animal(`"'\\ \n🐈‍⬛ \u2028`, 'sold', categoryId));
        }
        await transfer.importPets(inBatches(animals(2996)));
        const all = await walk(pets, { limit: 100 });
        assert.equal(all.length, 3000);
        assert.deepEqual(await exported(transfer), all);
      },
    ),

    contractCase(subject, 'gives the animals of one state', async ({ transfer }) => {
      await transfer.importPets(inBatches(animals(3100)));
      const all = await exported(transfer);
      for (const status of ['available', 'pending', 'sold'] as const) {
        assert.deepEqual(
          await exported(transfer, { status }),
          all.filter((pet) => pet.status === status),
        );
      }
    }),

    contractCase(
      subject,
      'gives no batch of an empty store, and no empty one',
      async ({ pets, transfer }) => {
        assert.deepEqual(await batchesOf(transfer), []);
        await addAll(pets, [animal('Rex', 'sold')]);
        assert.deepEqual(await batchesOf(transfer, { status: 'pending' }), []);
        await transfer.importPets(inBatches(animals(1999)));
        assert.ok((await batchesOf(transfer)).every((batch) => batch.length > 0));
      },
    ),

    contractCase(subject, 'is of one moment, whatever is written meanwhile', async ({ pets, transfer }) => {
      await transfer.importPets(inBatches(animals(3000)));
      const before = await walk(pets, { limit: 100 });
      const seen: Pet[] = [];
      for await (const batch of transfer.exportPets()) {
        seen.push(...batch);
        await addAll(pets, animals(2));
        await transfer.importPets(inBatches(animals(10)));
      }
      assert.deepEqual(seen, before);
      assert.ok((await exported(transfer)).length > before.length);
    }),

    contractCase(subject, 'can be left, and more than one can be under way', async ({ pets, transfer }) => {
      await transfer.importPets(inBatches(animals(3000)));
      for await (const [first] of transfer.exportPets()) {
        assert.deepEqual(first, (await pets.list({ limit: 1 })).pets[0]);
        const [one, two] = await whileWriting(pets, () =>
          Promise.all([exported(transfer), exported(transfer)]),
        );
        assert.ok(one.length >= 3000 && two.length >= 3000);
        break;
      }
      await pets.add(animal('after'));
    }),

    contractCase(subject, 'gives the same store again elsewhere', async ({ pets, transfer }) => {
      await addAll(pets, animals(40));
      await transfer.importPets(inBatches(animals(2000)));
      const other = await subject.open();
      try {
        await other.port.transfer.importPets(transfer.exportPets());
        assert.deepEqual(await exported(other.port.transfer), await exported(transfer));
        const [here, there] = [await pets.add(animal('next')), await other.port.pets.add(animal('next'))];
        assert.deepEqual(here, there);
      } finally {
        await other.close();
      }
    }),
  ];
}

function lasting(subject: Subject<TransferStore>): ContractCase[] {
  return [
    ...lastingCase(
      subject,
      'what was imported lasts',
      async ({ transfer }) => {
        await transfer.importPets(inBatches(animals(1500)));
        return exported(transfer);
      },
      async ({ transfer }, before) => assert.deepEqual(await exported(transfer), before),
    ),
  ];
}
