/** Clients of several servers, which are killed again and again: all creates and reads fit one order. */

import { describe, expect, test } from 'vitest';
import { connect, newDatabaseUrl } from '../support/postgres/index.ts'; // only PostgreSQL
import { HISTORY_CALLS, SEED } from './options.ts';
import { RecordedClients } from './order/clients.ts';
import { MortalServers, SETTINGS } from './order/servers.ts';
import { printTable } from './table.ts';

// only PostgreSQL: from here
/** Makes an insert take up to 10 ms, so that several servers create pets at the same time. */
const SLOW_INSERTS = `
  CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN IF random() < 0.3 THEN PERFORM pg_sleep(0.01 * random()); END IF; RETURN true; END $$;
  ALTER TABLE pets ADD CHECK (pause()) NOT VALID`;
// only PostgreSQL: to here

/** The clients of each server. */
const CLIENTS = 6;

describe.each(SETTINGS)('$name', (setting) => {
  test.skipIf(setting.canRun === false)(
    'creates and reads fit one order, and followers miss no pet, through kill -9',
    { timeout: 240_000 + HISTORY_CALLS * 400 },
    async () => {
      const servers = await MortalServers.start(setting);
      // only PostgreSQL: from here
      if (setting.databaseUrl === newDatabaseUrl) {
        await (await connect(servers.databaseUrl)).query(SLOW_INSERTS);
      }
      // only PostgreSQL: to here
      const clients = await RecordedClients.start(servers.ports, {
        calls: HISTORY_CALLS,
        clients: CLIENTS,
        seed: SEED,
      });
      const ended = new AbortController();
      const killing = servers.killAll(() => clients.history.size, ended.signal);
      // Without its servers, the exercise would retry each call.
      killing.catch(() => clients.end());
      await clients.exercised;
      ended.abort();
      await killing;
      const pets = await clients.expectOneOrder();
      await servers.stop();
      expect(servers.kills).toBeGreaterThan(0);
      printTable(`One order: ${setting.name}`, [
        ['calls', 'pets', 'kills'],
        [clients.history.size, pets, servers.kills],
      ]);
    },
  );
});
