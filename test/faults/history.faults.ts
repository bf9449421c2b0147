/** Clients of several servers, which are killed again and again: all creates and reads fit one order. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createAnimalStore, type PetStore } from '../../src/library/client.ts';
import { exercise, History } from '../../src/testing/index.ts';
import { freePort } from '../support/free-port.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { OPERATOR } from './keys.ts';
import { HISTORY_CALLS, SEED } from './options.ts';
import { FaultsServer, newFolder } from './server.ts';
import { printTable } from './table.ts';

/** The number of calls of all clients between two kills. */
const CALLS_PER_KILL = 150;

/** The clients of each server. */
const CLIENTS = 6;

interface Setting {
  readonly servers: number;
  readonly threads?: string;
  readonly databaseUrl: (folder: string) => string | Promise<string>;
}

const sqlite = (folder: string) => `sqlite:${join(folder, 'pets.db')}`;

const SETTINGS: Readonly<Record<string, Setting>> = {
  'two servers on one SQLite file': { servers: 2, databaseUrl: sqlite },
  'three threads on one SQLite file': { servers: 1, threads: '3', databaseUrl: sqlite },
  [`two servers on PostgreSQL${postgresNote}`]: { servers: 2, databaseUrl: newDatabaseUrl },
};

/** A server that is killed and started again at the same port. */
class MortalServer {
  readonly #start: () => Promise<FaultsServer>;
  #server: FaultsServer;

  constructor(server: FaultsServer, start: () => Promise<FaultsServer>) {
    this.#server = server;
    this.#start = start;
  }

  async killAndRestart(): Promise<void> {
    await this.#server.kill();
    this.#server = await this.#start();
  }

  stop(): Promise<unknown> {
    return this.#server.stop();
  }
}

/** Kills one server after the other, each time that clients have made some calls. Resolves with the number of kills. */
async function killServers(
  servers: readonly MortalServer[],
  history: History,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  for (let next = CALLS_PER_KILL; !signal.aborted; await sleep(10)) {
    if (history.size < next) continue;
    await servers[kills % servers.length]?.killAndRestart();
    kills += 1;
    next = history.size + CALLS_PER_KILL;
  }
  return kills;
}

describe.each(Object.entries(SETTINGS))('%s', (name, { servers: count, threads = '1', databaseUrl }) => {
  const canRun = canRunPostgres || !name.includes('PostgreSQL');

  test.skipIf(!canRun)(
    'creates and reads fit one order, and followers miss no pet, through kill -9',
    {
      timeout: 240_000 + HISTORY_CALLS * 400,
    },
    async () => {
      const folder = newFolder();
      const env = { DATABASE_URL: await databaseUrl(folder), WORKERS: threads };
      const servers: MortalServer[] = [];
      const stores: PetStore[] = [];
      for (let index = 0; index < count; index += 1) {
        const port = await freePort();
        const start = () => FaultsServer.start({ folder, port, env });
        servers.push(new MortalServer(await start(), start));
        const database = `http://127.0.0.1:${port}/v1`;
        stores.push(await createAnimalStore({ database, apiKey: OPERATOR, onDeprecation: () => {} }));
      }
      const history = new History();
      const ended = new AbortController();
      const killing = killServers(servers, history, ended.signal);
      const following = new AbortController();
      // Without its servers, the exercise would retry each call.
      killing.catch(() => ended.abort());
      const followed = stores.map((store) => idsOf(store, following.signal));
      await exercise(history, stores, {
        calls: HISTORY_CALLS,
        clients: CLIENTS,
        seed: SEED,
        signal: ended.signal,
      });
      ended.abort();
      const kills = await killing;
      expect(history.contradiction()).toBeUndefined();
      const all: bigint[] = [];
      for await (const { id } of (stores[0] as PetStore).listPets()) all.push(id);
      for (const ids of followed) await expect.poll(() => ids).toEqual(all);
      following.abort();
      for (const store of stores) await store.close();
      for (const server of servers) await server.stop();
      expect(kills).toBeGreaterThan(0);
      printTable(`One order: ${name}`, [
        ['calls', 'pets', 'kills'],
        [history.size, all.length, kills],
      ]);
    },
  );
});

/** Returns a list to which the ids of all pets are added as they become visible. */
function idsOf(store: PetStore, signal: AbortSignal): bigint[] {
  const ids: bigint[] = [];
  const follow = async (): Promise<void> => {
    for await (const { id } of store.followPets({ interval: 20, signal })) ids.push(id);
  };
  follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return ids;
}
