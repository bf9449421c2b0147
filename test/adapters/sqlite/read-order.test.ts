/** Reads while another thread or process writes: each read sees what was acknowledged before it. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openReader } from '../../../src/adapters/sqlite/database.ts';
import { petRepository } from '../../../src/adapters/sqlite/pet-repository.ts';
import { addPet } from '../../../src/adapters/sqlite/pets.ts';
import { Reads } from '../../../src/adapters/sqlite/reads.ts';
import type { Writer } from '../../../src/adapters/sqlite/writer.ts';
import { valuesOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { newPet, type Pet } from '../../../src/domain/pet.ts';
import { readFilter } from '../../../src/domain/pet-filter.ts';
import { History, type PetOperations } from '../../../src/testing/index.ts';
import { runs } from '../../support/property-runs.ts';
import { connect } from '../../support/sqlite.ts';
import { newFaults, newStore, REX } from './temporary-file.ts';

const STEPS = ['create', 'acknowledge', 'end the turn', 'list', 'list some', 'get'] as const;

test.each([
  ['in the same turn, as from another storage of this process', false],
  ['in another turn', true],
])('all creates and reads fit one order while acknowledgements arrive %s', async (_, isLater) => {
  const path = newStore();
  const writer = connect(path);
  writer.pragma('synchronous = OFF');
  const insert = writer.prepare(addPet(REX)[0]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 20, maxLength: 60 }), async (steps) => {
      writer.exec('DELETE FROM pets; DELETE FROM sqlite_sequence');
      const db = openReader(path);
      const reads = new Reads(db, newFaults());
      const pets = petRepository(reads, {} as unknown as Writer);
      let acknowledgements: (() => void)[] = [];
      const store: PetOperations = {
        createPet: async (input) => {
          const pet = newPet(input);
          const { lastInsertRowid } = insert.run(...valuesOf(pet));
          await new Promise<void>((resolve) => acknowledgements.push(resolve));
          return { ...pet, id: BigInt(lastInsertRowid) };
        },
        getPet: async (id) => (await pets.find(id)) as Pet,
        listPage: ({ limit = 20, ...query } = {}) => pets.list({ limit, ...readFilter(query).filter }),
      };
      const history = new History();
      const recorded = history.record(store, 'client');
      const calls: Promise<unknown>[] = [];
      const acknowledge = async (): Promise<void> => {
        if (isLater) await nextTurn();
        const waiting = acknowledgements;
        acknowledgements = [];
        for (const resolve of waiting) resolve();
        for (let turns = 0; turns < 9; turns++) await null;
      };
      for (const step of steps) {
        if (step === 'create') calls.push(recorded.createPet(REX));
        else if (step === 'acknowledge') await acknowledge();
        else if (step === 'end the turn') await nextTurn();
        else if (step === 'get') calls.push(recorded.getPet(1n));
        else calls.push(recorded.listPage({ limit: 20, ...(step === 'list' ? {} : readFilter(REX).filter) }));
      }
      await acknowledge();
      await Promise.all(calls);
      expect(history.contradiction()).toBeUndefined();
      db.close();
    }),
    runs(100),
  );
});
