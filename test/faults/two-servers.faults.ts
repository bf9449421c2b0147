/** Several servers on one store: the first key, idempotency keys and API keys. `history.faults.ts` has their order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { withRequired } from '../support/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts'; // only PostgreSQL
import { temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { createKey, exportOf, runCommand } from './commands.ts';
import { FaultsServer } from './server.ts';

const MILLISECONDS = 4000;

describe.each([
  { name: 'an empty file', urlOf: async () => undefined, canRun: true },
  { name: `an empty database${postgresNote}`, urlOf: newDatabaseUrl, canRun: canRunPostgres }, // only PostgreSQL
])('ten servers that start at once on $name', ({ urlOf, canRun }) => {
  test.skipIf(!canRun)('all serve, and one prints the first key', async () => {
    const [folder, url] = [temporaryFolder(), await urlOf()];
    const env = { FIRST_KEY: 'print', ...(url !== undefined && { DATABASE_URL: url }) };
    const start = (): Promise<FaultsServer> => FaultsServer.start({ folder, keys: [], env });
    const servers = await Promise.all(Array.from({ length: 10 }, start));
    const printed = servers.flatMap(({ out }) => [...new Set(out.stdout.match(/\bpets_\w{49}\b/g))]);
    expect(printed).toHaveLength(1);
    for (const server of servers) {
      expect((await server.clientWith(printed[0] ?? '').get('/v1/pets')).status).toBe(200);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
  });
});

test('two servers on one file: idempotency keys are shared, and keys are up to date', async () => {
  const folder = temporaryFolder();
  const servers = [await FaultsServer.start({ folder }), await FaultsServer.start({ folder })];
  const acknowledged = new Set<string>();
  let [keys, isRunning] = [0, true];

  /** Sends the same create to both servers at once. */
  async function race(client: number): Promise<void> {
    for (let count = 0; isRunning; count++) {
      const headers = { 'Idempotency-Key': `race-${client}-${count}` };
      const pet = withRequired({ name: `race ${client} ${count}`, categoryId: 2 });
      const answers = await Promise.all(servers.map((server) => server.client.post(pet, headers)));
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(new Set(answers.map(({ body }) => body)).size, BROKEN_PROMISE).toBe(1);
      const replays = answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true');
      expect(replays).toHaveLength(1);
      acknowledged.add(answers[0]?.body ?? '');
    }
  }

  /** Creates an API key and revokes it. Each server accepts it, and refuses it from the next request on. */
  async function changeKeys(): Promise<void> {
    for (; isRunning; keys++) {
      const [key, id] = await createKey(folder, `key ${keys}`);
      const holders = servers.map((server) => server.clientWith(key));
      const statuses = (): Promise<number[]> =>
        Promise.all(holders.map(async (holder) => (await holder.get('/v1/pets?limit=1')).status));
      expect(await statuses()).toEqual([200, 200]);
      await runCommand(folder, ['keys', 'revoke', id]);
      expect(await statuses(), BROKEN_PROMISE).toEqual([401, 401]);
      await sleep(200);
    }
  }

  const all = [race(0), race(1), race(2), changeKeys()];
  await Promise.race([sleep(MILLISECONDS), Promise.all(all)]);
  isRunning = false;
  await Promise.all(all);

  for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
  const stored = await exportOf(folder);
  expect(stored.toSorted(), BROKEN_PROMISE).toEqual([...acknowledged].toSorted());
  expect(Math.min(stored.length, keys)).toBeGreaterThan(0);
});
