/** Clients follow the ids of new pets through each server of a store, while others store pets through all of them. */

import { describe, expect, test } from 'vitest';
import { asAnimalStoreError, type PetStore } from '../../src/library/client.ts';
import { SLOW_INSERTS } from '../adapters/postgres/database.ts';
import { connect } from '../support/postgres/index.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { FOLLOWED } from './options.ts';
import { Followers, openStores } from './order/clients.ts';
import { MortalServers, SETTINGS } from './order/servers.ts';
import { printTable } from './table.ts';

/** The clients that store pets. Each second one has idempotency keys of its own. */
const CREATORS = 8;

describe.each(SETTINGS)('$name', (setting) => {
  test.skipIf(setting.canRun === false).each([
    ['', false],
    [', through kill -9', true],
  ])(
    'whoever follows the ids misses no pet, and sees none twice%s',
    { timeout: 240_000 + 5000 * FOLLOWED },
    async (note, areKilled) => {
      const servers = await MortalServers.start(setting);
      if (servers.databaseUrl.startsWith('postgres')) {
        await (await connect(servers.databaseUrl)).query(SLOW_INSERTS);
      }
      const stores = await openStores(servers.ports);
      const followers = new Followers(stores);
      const acknowledged: bigint[] = [];
      const end = performance.now() + 1000 * FOLLOWED;
      const isOver = () =>
        performance.now() > end && acknowledged.length > 0 && servers.kills > 0 === areKilled;
      const createAll = async (number: number): Promise<void> => {
        const store = stores[number % stores.length] as PetStore;
        for (let count = 0; !isOver(); count++) {
          const name = `${number}.${count}`;
          try {
            const { id } = await store.createPet(
              { name, categoryId: 1n },
              number % 4 < 2 ? {} : { idempotencyKey: name },
            );
            acknowledged.push(id);
          } catch (error) {
            if (!areKilled || asAnimalStoreError(error) === undefined) throw error;
          }
        }
      };
      const ended = new AbortController();
      const killing = areKilled
        ? servers.killAll(() => acknowledged.length, ended.signal)
        : Promise.resolve();
      await Promise.race([
        Promise.all(Array.from({ length: CREATORS }, (_, number) => createAll(number))),
        // Without its servers, no create would end.
        killing.then(() => new Promise(() => {})),
      ]);
      ended.abort();
      await killing;
      const stored: bigint[] = [];
      for await (const { id } of (stores[0] as PetStore).listPets()) stored.push(id);
      const all = new Set(stored);
      expect(
        acknowledged.filter((id) => !all.has(id)),
        BROKEN_PROMISE,
      ).toEqual([]);
      await followers.expectAll(stored);
      for (const store of stores) await store.close();
      await servers.stop();
      printTable(`Followers: ${setting.name}${note}`, [
        ['seconds', 'creates', 'kills', 'missed', 'twice'],
        [FOLLOWED, stored.length, servers.kills, 0, 0],
      ]);
    },
  );
});
