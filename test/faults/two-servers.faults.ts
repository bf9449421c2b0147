/** Several servers on one store: the first key, ids, idempotency keys, pages and API keys. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Answer, Client } from '../support/client.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { createKey, exportOf, runCommand } from './commands.ts';
import { canonicalPet, idOf, nameOf } from './oracle/pet.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const MILLISECONDS = 6000;
const PAGE = 20;

/** The number of clients of each server that create pets without an idempotency key. */
const CREATORS = 4;

interface Totals {
  creates: number;
  races: number;
  replays: number;
  handovers: number;
  walks: number;
  steps: number;
}

describe.each([
  { name: 'an empty file', urlOf: async () => undefined, canRun: true },
  { name: `an empty database${postgresNote}`, urlOf: newDatabaseUrl, canRun: canRunPostgres },
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

test('two servers on one file: ids are unique, pages and keys are up to date, idempotency keys are shared', async () => {
  const folder = temporaryFolder();
  const servers = [await FaultsServer.start({ folder }), await FaultsServer.start({ folder })];
  const clientsOf = (key?: string) =>
    servers.map((server) => (key === undefined ? server.client : server.clientWith(key))) as [Client, Client];
  const clients = clientsOf();
  const acknowledged = new Map<number, string>();
  const totals: Totals = { creates: 0, races: 0, replays: 0, handovers: 0, walks: 0, steps: 0 };
  let isRunning = true;

  function note(answer: Answer): number {
    expect(answer.status, answer.body).toBe(201);
    const id = idOf(answer.body);
    expect(acknowledged.get(id) ?? answer.body, BROKEN_PROMISE).toBe(answer.body);
    acknowledged.set(id, answer.body);
    return id;
  }

  async function create(server: number, client: number): Promise<void> {
    for (let count = 0; isRunning; count++) {
      const answer = await clients[server]?.post({ name: `${server}.${client}.${count}`, categoryId: 1 });
      expect(acknowledged.has(idOf(answer?.body ?? '')), BROKEN_PROMISE).toBe(false);
      note(answer as Answer);
      totals.creates += 1;
    }
  }

  /** Sends the same create to both servers at once. */
  async function race(): Promise<void> {
    for (let count = 0; isRunning; count++) {
      const headers = { 'Idempotency-Key': `race-${count}` };
      const pet = { name: `race ${count}`, categoryId: 2 };
      const answers = await Promise.all(clients.map((client) => client.post(pet, headers)));
      expect(new Set(answers.map(note)).size).toBe(1);
      const replays = answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true');
      expect(replays).toHaveLength(1);
      totals.replays += replays.length;
      totals.races += 1;
    }
  }

  /** Reads an empty page of one server, creates a pet at the other server, and reads the page again. */
  async function handOver(from: number): Promise<void> {
    const [writer, reader] = [clients[from] as Client, clients[1 - from] as Client];
    for (let count = 0; isRunning; count++) {
      const last = Math.max(0, ...acknowledged.keys());
      const target = `/v1/pets?limit=1&after=${last}`;
      await reader.get(target);
      const id = note(await writer.post({ name: `hand over ${from}.${count}`, categoryId: 3 }));
      const [first] = JSON.parse((await reader.get(target)).body);
      expect(first?.id).toBeLessThanOrEqual(id);
      expect(first?.id).toBeGreaterThan(last);
      expect((await reader.get(`/v1/pets/${id}`)).status).toBe(200);
      totals.handovers += 1;
    }
  }

  /** Follows the pages. Every pet that was acknowledged before the first page is seen once. */
  async function walk(reader: Client): Promise<void> {
    while (isRunning) {
      const known = [...acknowledged.keys()];
      const bodies = await reader.pages(`/v1/pets?limit=${PAGE}`);
      const seen = bodies.flatMap((body) => (JSON.parse(body) as { id: number }[]).map(({ id }) => id));
      totals.steps += bodies.length;
      expect(
        seen.filter((id, index) => index > 0 && id <= (seen[index - 1] ?? 0)),
        BROKEN_PROMISE,
      ).toEqual([]);
      const once = new Set(seen);
      expect(
        known.filter((id) => !once.has(id)),
        BROKEN_PROMISE,
      ).toEqual([]);
      totals.walks += 1;
    }
  }

  /** Creates an API key and revokes it. Each server accepts it and refuses it from the next request on. */
  async function changeKeys(): Promise<void> {
    for (let count = 0; isRunning; count++) {
      const [key = '', id = ''] = await createKey(folder, `key ${count}`);
      const holders = clientsOf(key);
      for (const holder of holders) expect((await holder.get('/v1/pets?limit=1')).status).toBe(200);
      await runCommand(folder, ['keys', 'revoke', id]);
      for (const holder of holders) expect((await holder.get('/v1/pets?limit=1')).status).toBe(401);
      await sleep(200);
    }
  }

  const all = [
    ...[0, 1].flatMap((server) => Array.from({ length: CREATORS }, (_, client) => create(server, client))),
    race(),
    handOver(0),
    handOver(1),
    ...clients.map(walk),
    changeKeys(),
  ];
  await Promise.race([sleep(MILLISECONDS), Promise.all(all)]);
  for (const client of clients) expect((await client.get('/readyz')).status).toBe(200);
  isRunning = false;
  await Promise.all(all);

  printTable('Two servers on one file', [
    ['creates', 'races of one key', 'replays', 'reads after a create elsewhere', 'walks', 'pages'],
    [totals.creates, totals.races, totals.replays, totals.handovers, totals.walks, totals.steps],
  ]);
  for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
  const stored = await exportOf(folder);
  expect(stored.map(canonicalPet).toSorted(), BROKEN_PROMISE).toEqual(
    [...acknowledged.values()].map(canonicalPet).toSorted(),
  );
  expect(new Set(stored.map(nameOf)).size, BROKEN_PROMISE).toBe(stored.length);
  for (const total of Object.values(totals)) expect(total).toBeGreaterThan(0);
});
