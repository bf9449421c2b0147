/** The start of several servers on one store. `crash.faults.ts` has their idempotency keys, `changes.faults.ts` their order. */

import { describe, expect, test } from 'vitest';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { temporaryFolder } from '../support/process.ts';
import { type FaultsServer, startFaultsServer } from './server.ts';

describe.each([
  { name: 'an empty file', urlOf: async () => undefined, canRun: true },
  { name: `an empty database${postgresNote}`, urlOf: newDatabaseUrl, canRun: canRunPostgres },
])('ten servers that start at once on $name', ({ urlOf, canRun }) => {
  test.skipIf(!canRun)('all serve, and one prints the first key', async () => {
    const [folder, url] = [temporaryFolder(), await urlOf()];
    const env = { API_KEYS: '', FIRST_KEY: 'print', ...(url !== undefined && { DATABASE_URL: url }) };
    const start = (): Promise<FaultsServer> => startFaultsServer({ folder, env });
    const servers = await Promise.all(Array.from({ length: 10 }, start));
    const printed = servers.flatMap(({ out }) => [...new Set(out.stdout.match(/\bpets_\w{49}\b/g))]);
    expect(printed).toHaveLength(1);
    for (const server of servers) {
      const { status } = await server.client.request('GET', '/v1/pets', { key: printed[0] ?? '' });
      expect(status).toBe(200);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
  });
});
