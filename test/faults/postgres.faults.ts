/** PostgreSQL stops, crashes and hangs under a load of reads and creates, which two servers handle. */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { countOf, withTimeout } from '../adapters/postgres/database.ts';
import { MAX, REX_JSON } from '../support/pets.ts';
import {
  canRunPostgres,
  connect,
  describePostgres,
  type PostgresServer,
  postgresNote,
  startPostgres,
} from '../support/postgres/index.ts';
import type { StopMode } from '../support/postgres/server.ts';
import { BIN } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { damageOf, Load, NO_DAMAGE, type StoredPet } from './client/load.ts';
import { expectWithin } from './limits.ts';
import { OUTAGES } from './options.ts';
import { type FaultsServer, startFaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** How long the load runs before each fault, and how long PostgreSQL is away, in milliseconds. */
const CALM = 1500;
const AWAY = 2000;

/** The time within which both servers serve again, and how long they must serve without an interruption, in milliseconds. */
const RETURN_TIME = 3000;
const SERVICE = 500;

/** So long that a busy machine misses it only when PostgreSQL hangs, in milliseconds. */
const QUERY_TIMEOUT = 5000;

/** PostgreSQL ends an import that pauses for 10 seconds. A create must fail before this time, in milliseconds. */
const CREATE_TIMEOUT = 4000;

const COLUMNS = ['fault', 'round', 'acknowledged', 'refused', 'served again after, ms'];

test.skipIf(!canRunPostgres)(
  `an import that is stopped while it copies its pets is ended, and creates work again${postgresNote}`,
  { timeout: 300_000 },
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const env = { DATABASE_URL: withTimeout(postgres.url, CREATE_TIMEOUT) };
    const server = await startFaultsServer({ env });
    const { client } = server;
    const file = join(server.folder, 'pets');
    writeFileSync(file, `${newPetJson(MAX)}\n`.repeat(100_000));
    const importing = spawn(process.execPath, [BIN, 'import', file], {
      env: { ...process.env, DATABASE_URL: postgres.url },
      stdio: 'ignore',
    });
    onTestFinished(() => void importing.kill('SIGKILL'));
    const held = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 7301 AND granted";
    const observer = await connect(postgres.url);
    await expect.poll(async () => (await observer.query(held)).rowCount, { interval: 1 }).toBe(1);
    importing.kill('SIGSTOP');
    const create = () => client.post(REX_JSON);
    const { status, headers } = await create();
    expect([status, headers['retry-after']]).toEqual([503, expect.any(String)]);
    await expect.poll(async () => (await client.get('/readyz')).status).toBe(200);
    await expect.poll(async () => (await create()).status).toBe(201);
    expect(await countOf(observer, MAX)).toBe(0);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

describePostgres('two servers on a PostgreSQL that fails', () => {
  const rows: (string | number)[][] = [];
  const servers: FaultsServer[] = [];
  let postgres: PostgresServer;
  let load: Load;

  beforeAll(async () => {
    postgres = await startPostgres();
    const env = { DATABASE_URL: withTimeout(postgres.url, QUERY_TIMEOUT) };
    for (let count = 0; count < 2; count++) servers.push(await startFaultsServer({ env }));
    load = new Load(servers.map(({ port }) => port));
  });

  afterAll(() => postgres.close());

  async function restart(mode: StopMode): Promise<void> {
    await postgres.stop(mode);
    await sleep(AWAY);
    await postgres.start();
  }

  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'a fast restart': () => restart('fast'),
    'a crash': () => restart('immediate'),
    async 'a server that hangs'() {
      const { refused } = load;
      onTestFinished(() => postgres.thaw());
      postgres.freeze();
      await expect.poll(() => load.refused).toBeGreaterThan(refused + 20);
      postgres.thaw();
    },
  };

  test.each(
    Array.from({ length: OUTAGES }, (_, index) =>
      Object.entries(faults).map(([fault, cause]) => ({ fault, cause, round: index + 1 })),
    ).flat(),
  )('round $round, $fault: only 200, 201 and 503, and service again', async (round) => {
    await sleep(CALM);
    const { refused } = load;
    const acknowledged = load.acknowledged.size;
    await round.cause();
    const returnedAt = performance.now();
    await expect.poll(servesAgain).toBe(true);
    expectWithin(lastOutage() - returnedAt, RETURN_TIME);
    const counts = [load.acknowledged.size - acknowledged, load.refused - refused];
    rows.push([round.fault, round.round, ...counts, Math.round(Math.max(0, lastOutage() - returnedAt))]);
    expect(load.faults).toEqual([]);
    expect(load.refused).toBeGreaterThan(refused);
  });

  function lastOutage(): number {
    return Math.max(...[...load.writes, ...load.readiness].map(({ endedAt }) => endedAt));
  }

  /** Whether both servers accept creates and are ready, now and for {@link SERVICE} milliseconds. */
  async function servesAgain(): Promise<boolean> {
    const before = lastOutage();
    await sleep(SERVICE);
    const isOver = [...load.writes, ...load.readiness].every((outage) => outage.isOver);
    return isOver && lastOutage() === before;
  }

  test('nothing acknowledged is lost, and each key has one pet', async () => {
    await load.stop();
    const all = 'SELECT id::text, name FROM pets ORDER BY pets.id';
    const { rows: stored } = await (await connect(postgres.url)).query<StoredPet>(all);
    printTable('PostgreSQL stops, crashes and hangs', [COLUMNS, ...rows]);
    expect(load.faults).toEqual([]);
    expect(damageOf([...load.acknowledged], stored), BROKEN_PROMISE).toEqual(NO_DAMAGE);
    expect(stored, BROKEN_PROMISE).toHaveLength(load.acknowledged.size);
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});
