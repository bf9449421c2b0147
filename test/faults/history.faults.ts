/** Clients of several servers, which are killed again and again: all creates and reads fit one order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SLOW_INSERTS } from '../adapters/postgres/database.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { temporaryFolder } from '../support/process.ts';
import { RecordedClients } from './client/recorded.ts';
import { storeOf } from './commands.ts';
import { HISTORY_CALLS, SEED } from './options.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** The clients of each server. */
const CLIENTS = 6;

/** The calls of the clients between two kills. */
const CALLS_PER_KILL = 150;

describe.each([
  { name: 'two servers on one SQLite file', canRun: true },
  { name: `two servers on PostgreSQL${postgresNote}`, canRun: canRunPostgres },
])('$name', ({ name, canRun }) => {
  test.skipIf(!canRun)(
    'creates and reads fit one order, and followers miss no pet, through kill -9',
    { timeout: 240_000 + HISTORY_CALLS * 400 },
    async () => {
      const folder = temporaryFolder();
      const env = { DATABASE_URL: storeOf(folder) };
      if (name.includes('PostgreSQL')) env.DATABASE_URL = await newDatabaseUrl();
      const servers = [await FaultsServer.start({ folder, env }), await FaultsServer.start({ folder, env })];
      if (name.includes('PostgreSQL')) await (await connect(env.DATABASE_URL)).query(SLOW_INSERTS);
      const clients = await RecordedClients.start(
        servers.map(({ port }) => port),
        { calls: HISTORY_CALLS, clients: CLIENTS, seed: SEED },
      );
      let isOver = false;
      let kills = 0;
      /** Kills one server after the other, and starts another one at its port. */
      const killAll = async () => {
        for (let next = CALLS_PER_KILL; !isOver; await sleep(10)) {
          if (clients.history.size < next) continue;
          const at = kills++ % servers.length;
          const killed = servers[at] as FaultsServer;
          await killed.kill();
          servers[at] = await FaultsServer.start({ folder, port: killed.port, env });
          next = clients.history.size + CALLS_PER_KILL;
        }
      };
      const killing = killAll();
      // Without its servers, the exercise would retry each call.
      killing.catch(() => clients.end());
      await clients.exercised;
      isOver = true;
      await killing;
      const pets = await clients.expectOneOrder();
      for (const server of servers) await server.stop();
      expect(kills).toBeGreaterThan(0);
      printTable(`One order: ${name}`, [
        ['calls', 'pets', 'kills'],
        [clients.history.size, pets, kills],
      ]);
    },
  );
});
