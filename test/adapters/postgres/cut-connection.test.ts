import { expect, test } from 'vitest';
import type { NewPet } from '../../../src/domain/pet.ts';
import { numberedPet } from '../../../src/testing/fixtures/pets.ts';
import { describePostgres } from '../../support/postgres/index.ts';
import {
  attemptWith,
  connectionsOf,
  countOf,
  endConnectionsOf,
  newUser,
  openStorage,
  REX,
  walk,
} from './database.ts';
import { type Direction, startProxy } from './proxy.ts';

/** The share of the transferred bytes after which the connection is cut. */
const SHARES = [0, 0.3, 0.99, 1];

const UNKNOWN = /: it is unknown whether this was stored$/;

describePostgres('a connection to PostgreSQL that is cut', () => {
  test.each<[Direction, string]>([
    ['to the server', 'with a key'],
    ['to the client', 'with a key'],
    ['to the server', 'without a key'],
    ['to the client', 'without a key'],
  ])('%s during a create %s', async (direction, kind) => {
    const { url, admin } = await newUser();
    const proxy = await startProxy(url);
    const storage = await openStorage(proxy.url);
    const add = async (pet: NewPet, key: string) =>
      kind === 'with a key'
        ? (await storage.idempotentCreates.add(pet, attemptWith(key))).pet
        : storage.pets.add(pet);
    for (const key of ['a', 'b']) await add(numberedPet(10n), key);
    proxy.transferred();
    await add(numberedPet(10n), 'c');
    const bytes = proxy.transferred()[direction];
    expect(bytes).toBeGreaterThan(20);
    const outcomes = { acknowledged: 0, unknownAndStored: 0, unknownAndNotStored: 0 };
    for (const [index, share] of SHARES.entries()) {
      const pet = numberedPet(BigInt(20 + index));
      const stored = () => countOf(admin, pet);
      // The last step cuts after the response.
      proxy.cutAfter(Math.round(bytes * share), direction);
      const result = await add(pet, `${index}`).catch((error: Error) => error);
      proxy.repair();
      if (result instanceof Error) {
        expect(result).toMatchObject({ code: 'storage_unavailable' });
        expect(result.message).toMatch(UNKNOWN);
        // The server may still be storing the pet.
        if (direction === 'to the client') await expect.poll(stored).toBe(1);
        outcomes[(await stored()) === 1 ? 'unknownAndStored' : 'unknownAndNotStored'] += 1;
      } else {
        expect(await stored()).toBe(1);
        outcomes.acknowledged += 1;
      }
      if (kind === 'with a key') {
        await expect.poll(() => add(pet, `${index}`).catch(() => undefined)).toMatchObject(pet);
        expect(await stored()).toBe(1);
      }
      const next = numberedPet(BigInt(30 + index));
      await expect.poll(() => add(next, `next ${index}`).catch(() => undefined)).toMatchObject(next);
    }
    if (direction === 'to the client') expect(outcomes.unknownAndStored).toBeGreaterThan(2);
    else expect(outcomes.unknownAndNotStored).toBeGreaterThan(2);
    await storage.check();
  });

  test('between two calls: the next call connects again, and no call fails', async () => {
    const { url, admin } = await newUser();
    const storage = await openStorage(url);
    for (let count = 1; count <= 2; count++) {
      await storage.pets.add(REX);
      await storage.apiKeys.list();
      await endConnectionsOf(admin, url);
      expect((await walk(storage)).length).toBe(count);
      expect(await storage.apiKeys.list()).toEqual([]);
    }
    await storage.close();
    await expect.poll(() => connectionsOf(admin, url)).toBe(0);
  });
});
