/** Reads from a database that takes its requests, and sends its responses, in any order. Needs no PostgreSQL. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResultRow, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import type { AddCreate } from '../../../src/adapters/postgres/creates.ts';
import { petRepository } from '../../../src/adapters/postgres/pet-repository.ts';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import { conditionsOf, valuesOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { type NewPet, newPet, type Pet } from '../../../src/domain/pet.ts';
import { PET_FILTERS, readFilter } from '../../../src/domain/pet-filter.ts';
import { FEW_FILTERS, filterablePets } from '../../../src/testing/fixtures/filters.ts';
import { History, type PetOperations } from '../../../src/testing/index.ts';
import { runs } from '../../support/property-runs.ts';

const IDLE = { busy: 0, idle: 1, waiting: 0 };

/** Whether a pet has these values in these columns of filters, as they are in the database. */
function matches(pet: Pet, columns: readonly string[], wanted: readonly unknown[]): boolean {
  const found = conditionsOf(Object.fromEntries(PET_FILTERS.map((name) => [name, pet[name]])));
  return columns.every((column, index) => found.values[found.columns.indexOf(column)] === wanted[index]);
}

/** A database. The scheduler decides when a statement runs, and when its result arrives. */
class Database {
  readonly #scheduler: fc.Scheduler;
  readonly #pets: Pet[] = [];
  #version = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  create(pet: NewPet): Promise<Pet> {
    return this.#run('create', () => {
      this.#version += 1;
      const stored = { ...pet, id: BigInt(this.#pets.length + 1) };
      this.#pets.push(stored);
      return stored;
    });
  }

  read({ name, values = [] }: SqlStatement): Promise<readonly ResultRow[]> {
    return this.#run(name ?? 'read', () => {
      if (name === 'version') return [[this.#version]];
      const [first, limit, ...wanted] = values as [bigint | string, number, ...unknown[]];
      const [, ...columns] = name?.split('-') ?? [];
      const ids = `${first}`.replace(/[{}]/g, '').split(',');
      const isFound = name?.startsWith('find')
        ? (pet: Pet) => ids.includes(`${pet.id}`)
        : (pet: Pet) => pet.id > (first as bigint) && matches(pet, columns, wanted);
      return this.#pets
        .filter(isFound)
        .slice(0, limit)
        .map((pet) => [pet.id, ...valuesOf(pet), this.#version]);
    });
  }

  async #run<T>(label: string, run: () => T): Promise<T> {
    await this.#scheduler.schedule(Promise.resolve(), `${label} runs`);
    const result = run();
    await this.#scheduler.schedule(Promise.resolve(), `${label} returns`);
    return result;
  }
}

function storeOn(database: Database): PetOperations {
  const read = (statement: SqlStatement, onSend?: () => void) => {
    onSend?.();
    return database.read(statement);
  };
  const pool = { max: 4, statistics: IDLE, read } as Parameters<typeof petRepository>[0];
  const pets = petRepository(pool, (async () => undefined) as AddCreate, new PageCache(), true);
  return {
    createPet: (input) => database.create(newPet(input)),
    async getPet(id) {
      const pet = await pets.find(id);
      if (pet === undefined) throw new AnimalStoreError('not_found', 'not found');
      return pet;
    },
    listPage: ({ limit = 20, after, ...filter } = {}) =>
      pets.list({
        ...readFilter(filter).filter,
        limit,
        after: after === undefined ? undefined : BigInt(after),
      }),
  };
}

type Call = (store: PetOperations) => Promise<unknown>;

const pet = fc.constantFrom(...filterablePets(3));
const after = fc.option(fc.bigInt(0n, 4n), { nil: undefined });
const call: fc.Arbitrary<Call> = fc.oneof(
  pet.map(
    (pet): Call =>
      (store) =>
        store.createPet(pet),
  ),
  fc.tuple(fc.constantFrom(1, 5), after, fc.constantFrom(...FEW_FILTERS)).map(
    ([limit, after, filter]): Call =>
      (store) =>
        store.listPage({ ...filter, limit, after }),
  ),
  fc.constant<Call>((store) => store.listPage({ limit: 5 })),
  fc.bigInt(1n, 4n).map(
    (id): Call =>
      (store) =>
        store.getPet(id).catch(() => {}),
  ),
);

test('all creates and reads of clients of two servers fit one order', async () => {
  const clients = fc.array(fc.array(call, { maxLength: 8 }), { minLength: 2, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), clients, async (scheduler, clients) => {
      const database = new Database(scheduler);
      const stores = [storeOn(database), storeOn(database)] as const;
      const history = new History();
      let running = clients.length;
      for (const [index, calls] of clients.entries()) {
        const store = history.record(stores[index % 2 === 0 ? 0 : 1], `client ${index + 1}`);
        void (async () => {
          for (const call of calls) await call(store);
          running -= 1;
        })();
      }
      for (let turns = 0; running > 0; turns++) {
        expect(turns, 'turns of the event loop until all calls have ended').toBeLessThan(100_000);
        await nextTurn();
        if (scheduler.count() > 0) await scheduler.waitNext(1);
      }
      expect(history.contradiction()).toBeUndefined();
    }),
    runs(150),
  );
});
