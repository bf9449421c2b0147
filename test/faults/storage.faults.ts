/** Faults of the storage that last while clients read and create: a slow disk, a lock, a long read. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  canFaultDisk,
  faultyDisk,
  faultyDiskNote,
  notReady,
  READY,
  readinessOf,
  stateLines,
} from '../support/faults.ts';
import { OPERATOR_KEY } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { connect } from '../support/sqlite.ts';
import { ClientGroup, createOf, type Exchange, LIST, type Outcomes } from './client/clients.ts';
import type { Latencies } from './client/latencies.ts';
import { nameOf } from './oracle/pet.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const TIMEOUT = { timeout: 120_000 };

const LIVEZ: Exchange = { method: 'GET', target: '/livez' };

/** The limit of the write-ahead log in `src/adapters/sqlite/database.ts`, in bytes. */
const LOG_LIMIT = 16 * 1024 * 1024;

test.skipIf(!canFaultDisk)(
  `each fsync takes 200 ms longer: creates are slower, reads and /livez are not${faultyDiskNote}`,
  TIMEOUT,
  async () => {
    const disk = faultyDisk();
    const server = await FaultsServer.start({ env: disk.env });
    await loadFor(server, 500);
    const calm = await loadFor(server, 2000);
    disk.set('slow');
    const slow = await loadFor(server, 3000);
    expect(await readinessOf(server)).toEqual(READY);
    disk.set('none');
    const rows = [
      ['calm', calm],
      ['slow', slow],
    ] as const;
    printTable('Each fsync 200 ms longer', [
      ['', 'reads', 'p50 ms', 'p99 ms', '/livez p50', '/livez p99', 'creates', 'p50 ms', 'p99 ms'],
      ...rows.map(([name, { reads, live, creates }]) => [name, ...figuresOf(reads, live, creates)]),
    ]);
    for (const { failures } of [slow.reads, slow.live, slow.creates]) expect(failures).toEqual([]);
    expect(slow.creates.creates.summary().p50).toBeGreaterThan(200);
    for (const { reads } of [slow.reads, slow.live]) {
      expect(reads.summary().p50).toBeLessThan(50);
      expect(reads.summary().p99).toBeLessThan(200);
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

test(
  'a lock of another process: creates wait, then get 503, and reads are not delayed',
  TIMEOUT,
  async () => {
    const server = await FaultsServer.start();
    const client = server.client;
    const other = connect(pathOf(server));
    const names = Array.from({ length: 20 }, (_, index) => `pet ${index}`);
    const createAll = () =>
      Promise.all(
        names.map(async (name) => {
          const begin = performance.now();
          const { status, headers } = await client.post({ name, categoryId: 1 });
          return { status, retryAfter: headers['retry-after'], ms: performance.now() - begin };
        }),
      );

    other.exec('BEGIN IMMEDIATE');
    const reads = readersOf(server);
    const waiting = createAll();
    await sleep(1000);
    other.exec('ROLLBACK');
    for (const { status, ms } of await waiting) {
      expect(status).toBe(201);
      expect(ms).toBeGreaterThan(900);
    }
    expect(await readinessOf(server)).toEqual(READY);

    other.exec('BEGIN IMMEDIATE');
    const refused = await createAll();
    for (const { status, retryAfter, ms } of refused) {
      expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '1' });
      expect(ms).toBeGreaterThan(4900);
      expect(ms).toBeLessThan(7000);
    }
    for (let times = 0; times < 5; times++) {
      expect(await readinessOf(server)).toEqual(notReady('locked'));
      await sleep(300);
    }
    const { outcomes } = reads;
    await reads.stop();
    other.exec('ROLLBACK');
    await expect.poll(() => readinessOf(server), { timeout: 5000 }).toMatchObject({ status: 200 });
    expect((await client.post({ name: 'last', categoryId: 1 })).status).toBe(201);

    const { p50, p99, max } = outcomes.reads.summary();
    printTable('A lock of another process', [
      ['reads', 'p50 ms', 'p99 ms', 'max ms', 'creates refused after ms'],
      [outcomes.requests, p50, p99, max, Math.round(Math.max(...refused.map(({ ms }) => ms)))],
    ]);
    expect(outcomes.failures).toEqual([]);
    expect(p99).toBeLessThan(200);
    expect(server.export().map(nameOf).toSorted(), BROKEN_PROMISE).toEqual([...names, 'last'].toSorted());
    expect(stateLines(server)).toMatchObject([{ level: 50, reason: 'locked' }]);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

test(
  'another process reads for a long time: the write-ahead log grows, and shrinks afterwards',
  TIMEOUT,
  async () => {
    const server = await FaultsServer.start();
    const client = server.client;
    await client.post({ name: 'first', categoryId: 1 });
    const other = connect(pathOf(server));
    const sizeOfLog = () => statSync(join(server.folder, 'pets.db-wal')).size;
    const group = creatorsOf(server, 32, '\u{1f408}'.repeat(200));
    other.exec('BEGIN');
    const count = () => other.prepare('SELECT count(*) FROM pets').pluck().get();
    const seen = count();
    await expect.poll(sizeOfLog, { timeout: 60_000 }).toBeGreaterThan(1.5 * LOG_LIMIT);
    expect(count()).toBe(seen);
    expect(await readinessOf(server)).toEqual(READY);
    const greatest = sizeOfLog();
    other.exec('ROLLBACK');
    const begin = performance.now();
    await expect.poll(sizeOfLog, { timeout: 30_000 }).toBeLessThanOrEqual(LOG_LIMIT);
    const took = performance.now() - begin;
    await sleep(1000);
    expect(sizeOfLog()).toBeLessThanOrEqual(LOG_LIMIT);
    const { failures, pets } = await group.stop();
    printTable('A long read of another process', [
      ['creates', 'greatest log MB', 'log afterwards MB', 'after ms'],
      [pets.length, megabytes(greatest), megabytes(sizeOfLog()), Math.round(took)],
    ]);
    expect(failures).toEqual([]);
    expect(count()).toBe(BigInt(pets.length + 1));
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

function pathOf({ folder }: FaultsServer): string {
  return join(folder, 'pets.db');
}

function groupOf(
  { origin }: FaultsServer,
  clients: number,
  pause: number,
  next: (client: number, count: number) => Exchange,
): ClientGroup {
  return new ClientGroup({ origin, key: OPERATOR_KEY, clients, next, pause: () => pause });
}

function readersOf(server: FaultsServer, exchange = LIST): ClientGroup {
  return groupOf(server, 2, 5, () => exchange);
}

function creatorsOf(server: FaultsServer, clients: number, name: string): ClientGroup {
  return groupOf(server, clients, 1, (client, count) => createOf(`${name} ${client}.${count}`));
}

async function loadFor(
  server: FaultsServer,
  milliseconds: number,
): Promise<Readonly<Record<'reads' | 'live' | 'creates', Outcomes>>> {
  const groups = [readersOf(server), readersOf(server, LIVEZ), creatorsOf(server, 8, 'pet')] as const;
  await sleep(milliseconds);
  const [reads, live, creates] = await Promise.all(groups.map((group) => group.stop()));
  return { reads, live, creates } as Record<'reads' | 'live' | 'creates', Outcomes>;
}

function figuresOf(reads: Outcomes, live: Outcomes, creates: Outcomes): number[] {
  const of = (latencies: Latencies) => {
    const { p50, p99 } = latencies.summary();
    return [p50, p99];
  };
  return [reads.requests, ...of(reads.reads), ...of(live.reads), creates.requests, ...of(creates.creates)];
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
