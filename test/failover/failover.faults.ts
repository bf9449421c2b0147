/** Ends the leader of a PostgreSQL cluster in several ways, while clients create and change pets through two servers. */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { CountingClients } from '../faults/client/counting.ts';
import { damageOf, Load, NO_DAMAGE, type StoredPet } from '../faults/client/load.ts';
import { FAILOVERS } from '../faults/options.ts';
import { type FaultsServer, startFaultsServer } from '../faults/server.ts';
import { printTable } from '../faults/table.ts';
import { until } from '../support/clock.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { Cluster } from './cluster.ts';
import { missingPrograms } from './packages.ts';
import type { Node } from './settings.ts';

/** How long the load runs before each failover, and after it, in milliseconds. */
const CALM = 2000;

/** The maximum number of pets in a page of the API. */
const PAGE = 100;

const COLUMNS = 'failover|round|new leader|acknowledged|refused|writes again after|ready after'.split('|');

/**
 * How long the leader does not replicate before its node fails, in milliseconds. A leader that acknowledged creates in
 * this time would lose them. The time is shorter than the deadline for a create.
 */
const LAG = 500;

const missing = missingPrograms();
const isSkipped = missing !== '' && !process.env['CI'];
const note = isSkipped ? ` (skipped: not installed: ${missing})` : '';
if (isSkipped) console.warn(`SKIPPED: the failover of PostgreSQL. Not installed: ${missing}.`);

describe.skipIf(isSkipped)(`two servers on a PostgreSQL cluster that fails over${note}`, () => {
  const rows: (string | number)[][] = [];
  let cluster: Cluster | undefined;
  const servers: FaultsServer[] = [];
  /** Two servers on a database in which pets change. */
  const changingServers: FaultsServer[] = [];
  let load: Load;
  let counting: CountingClients;

  beforeAll(async () => {
    expect(missing, 'the programs that are not installed').toBe('');
    cluster = await Cluster.start();
    const changingUrl = await cluster.createDatabase('changing');
    for (const name of ['server-1', 'server-2']) {
      const start = (url: string, folder: string, env = {}) =>
        startFaultsServer({ env: { DATABASE_URL: url, ...env }, folder: running().newFolder(folder) });
      servers.push(await start(cluster.url, name));
      changingServers.push(await start(changingUrl, `changing-${name}`, { ...CHANGING_SETTINGS }));
    }
    counting = await CountingClients.start(changingServers.map(({ origin }) => origin));
    load = new Load(servers.map(({ port }) => port));
  });

  afterAll(() => cluster?.close());

  function running(): Cluster {
    if (cluster === undefined) throw new Error('the cluster does not run');
    return cluster;
  }

  const kinds: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = {
    async 'the node of the leader crashes'(cluster) {
      const leader = await withoutReplication(cluster);
      cluster.crash(leader);
      await cluster.untilLeaderIsNot(leader);
      cluster.restart(leader);
    },
    async 'PostgreSQL crashes on the leader'(cluster) {
      const leader = await withoutReplication(cluster);
      cluster.crashPostgres(leader);
      cluster.resumeReplication(leader);
    },
    async 'an operator switches over'(cluster) {
      const leader = await cluster.leader();
      await cluster.switchOver(leader);
      await cluster.untilLeaderIsNot(leader);
    },
  };

  test.each(
    Array.from({ length: FAILOVERS }, (_, index) =>
      Object.entries(kinds).map(([kind, failOver]) => ({ kind, failOver, round: index + 1 })),
    ).flat(),
  )('round $round: $kind, and nothing is lost', async ({ kind, failOver, round }) => {
    onTestFailed(() => console.error(running().logs()));
    await sleep(CALM);
    const { refused } = load;
    const acknowledged = load.acknowledged.size;
    const former = await running().leader();
    const start = performance.now();
    await failOver(running());
    await running().untilHealthy();
    const outages = [...load.writes, ...load.readiness];
    const hasEnded = () => load.writes.every(({ endedAt }) => endedAt > start);
    await until(() => outages.every(({ isOver }) => isOver) && hasEnded(), 100);
    await sleep(CALM);
    const isSame = former.name === (await running().leader()).name;
    const counts = [load.acknowledged.size - acknowledged, load.refused - refused];
    const times = [load.writes, load.readiness].map((each) => {
      const end = Math.max(start, ...each.map(({ endedAt }) => endedAt));
      return ((end - start) / 1000).toFixed(1);
    });
    rows.push([kind, round, isSame ? 'no' : 'yes', ...counts, ...times]);
    expect(load.faults).toEqual([]);
    expect(load.refused).toBeGreaterThan(refused);
    expect(damageOf([...load.acknowledged], await storedPets()), BROKEN_PROMISE).toEqual(NO_DAMAGE);
  });

  test('each key has one pet, and each id belongs to one pet', async () => {
    await load.stop();
    const acknowledged = [...load.acknowledged];
    const stored = await storedPets();
    const damage = damageOf(acknowledged, stored);
    printTable('Failover of PostgreSQL, times in seconds', [COLUMNS, ...rows]);
    printTable('All rounds', [
      ['keys', 'pets'],
      [acknowledged.length, stored.length],
    ]);
    expect(load.faults).toEqual([]);
    expect(damage, BROKEN_PROMISE).toEqual(NO_DAMAGE);
    expect(stored, BROKEN_PROMISE).toHaveLength(acknowledged.length);
    const all = 'SELECT key, pet_id::text AS id FROM idempotency_records';
    const records = await running().query<{ key: string; id: string }>(all);
    expect(new Map(records.map(({ key, id }) => [key, id])), BROKEN_PROMISE).toEqual(load.acknowledged);
    for (const server of servers) {
      expect(await petsOf(server)).toEqual(stored);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
  });

  test('changes of the client are made once, and the copies of followers are exact', async () => {
    await counting.expectExact();
    printTable('Changes through failovers', [
      ['changes', 'removals', 'failovers'],
      [counting.changes, counting.removed, rows.length],
    ]);
    for (const server of changingServers) expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  /** Reads all pets from the leader, in the order of their ids. */
  function storedPets(): Promise<StoredPet[]> {
    return running().query<StoredPet>('SELECT id::text, name FROM pets ORDER BY pets.id');
  }

  /** Reads all pages of a server. */
  async function petsOf({ client }: FaultsServer): Promise<StoredPet[]> {
    const bodies = await client.pages(`/v1/pets?limit=${PAGE}`);
    const pets = bodies.flatMap((body) => JSON.parse(body) as StoredPet[]);
    return pets.map(({ id, name }) => ({ id: String(id), name }));
  }
});

/** Resolves with the leader, which has not replicated for some time. */
async function withoutReplication(cluster: Cluster): Promise<Node> {
  const leader = await cluster.leader();
  cluster.pauseReplication(leader);
  await sleep(LAG);
  return leader;
}
