/** Sessions that write, and end their transactions, in every order. Ids become visible in ascending order. */

import type { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ResultRow, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import { type Create, statementFor } from '../../../src/adapters/postgres/creates.ts';
import { examinePostgresStore } from '../../../src/adapters/postgres/index.ts';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { exercise, History } from '../../../src/testing/index.ts';
import { stopClock, until } from '../../support/clock.ts';
import { insertPet } from '../../support/pets.ts';
import {
  canRunPostgres,
  connect,
  newDatabaseUrl,
  openClient,
  postgresNote,
} from '../../support/postgres/index.ts';
import {
  attemptWith,
  NO_DUPLICATES,
  named,
  newStoreUrl,
  openStorage,
  REX,
  SLOW_INSERTS,
  untilBlocked,
  walk,
  withSetting,
  withTimeout,
} from './database.ts';

type Sessions = readonly [Client, Client];

const ENDS = ['COMMIT', 'ROLLBACK'] as const;

/** The ids of the visible pets, in ascending order. */
async function visible(client: Client): Promise<readonly bigint[]> {
  const { rows } = await client.query('SELECT id FROM pets ORDER BY id');
  return rows.map(({ id }) => BigInt(id));
}

/** All orders of the steps of two sessions, such as `0 1 1 0`. */
function ordersOf(zeros: number, ones: number): (0 | 1)[][] {
  if (zeros === 0 || ones === 0) return [Array(zeros + ones).fill(zeros === 0 ? 1 : 0)];
  return [
    ...ordersOf(zeros - 1, ones).map((rest): (0 | 1)[] => [0, ...rest]),
    ...ordersOf(zeros, ones - 1).map((rest): (0 | 1)[] => [1, ...rest]),
  ];
}

/**
 * Each session runs a transaction. A statement that waits for the other session does not keep that one from its next step.
 * After each step, every new visible id is greater than those that were visible before.
 */
async function interleave(
  sessions: Sessions,
  observer: Client,
  order: readonly (0 | 1)[],
  transactions: readonly [Transaction, Transaction],
): Promise<Interleaved> {
  let seen: readonly bigint[] = [];
  const look = async () => {
    const ids = await visible(observer);
    expect(ids.slice(0, seen.length), `${order}`).toEqual(seen);
    seen = ids;
  };
  const queues = transactions.map(({ writes, end }) => [...writes, { text: end }]);
  const results: Promise<{ readonly rows: readonly ResultRow[] }>[][] = [[], []];
  for (const client of sessions) await client.query('BEGIN');
  for (const session of order) {
    const client = sessions[session];
    const step = client.query({ ...(queues[session]?.shift() as SqlStatement), rowMode: 'array' });
    results[session]?.push(step);
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    step.then(done, done);
    await until(async () => isDone || (await isBlocked(observer)));
    await look();
  }
  const all = await Promise.all(results.map((steps) => Promise.all(steps)));
  await look();
  return { seen, written: all.map((steps) => steps.flatMap(({ rows }) => rows)) };
}

interface Interleaved {
  /** The ids of the pets that were visible at the end. */
  readonly seen: readonly bigint[];
  /** The rows of the statements of each session. */
  readonly written: readonly (readonly ResultRow[])[];
}

interface Transaction {
  readonly writes: readonly SqlStatement[];
  readonly end: (typeof ENDS)[number];
}

async function isBlocked(observer: Client): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`;
  return ((await observer.query(sql)).rowCount ?? 0) > 0;
}

describe.skipIf(!canRunPostgres)(`the order of ids on PostgreSQL${postgresNote}`, () => {
  let url: string;
  let sessions: Sessions;
  let observer: Client;

  beforeAll(async () => {
    url = await newStoreUrl();
    sessions = [await openClient(url), await openClient(url)];
    observer = await openClient(url);
    return () => Promise.all([...sessions, observer].map((client) => client.end()));
  });

  const plain: Create = { pet: REX };
  const keyed = (key: string, name = key): Create => ({ pet: named(name), attempt: attemptWith(key) });

  test.each([
    ['without keys', plain, plain],
    ['one of them with a key', plain, keyed('a')],
    ['with keys', keyed('a'), keyed('b')],
    ['with one key', keyed('a', 'one'), keyed('a', 'two')],
    ['with one key whose record is out of date', keyed('old', 'one'), keyed('old', 'two')],
  ])('two creates, %s', async (_, ...creates) => {
    const isOneKey =
      creates[0]?.attempt?.key === creates[1]?.attempt?.key && creates[0]?.attempt !== undefined;
    for (const end of ENDS) {
      for (const order of ordersOf(2, 2)) {
        await observer.query(`DELETE FROM pets; DELETE FROM idempotency_records;
          INSERT INTO idempotency_records (caller, key, pet_id, ends_at) VALUES ('1', 'old', 1, 1)`);
        const [one, two] = creates.map((create) => statementFor([create])) as [SqlStatement, SqlStatement];
        const transactions = [
          { writes: [one], end },
          { writes: [two], end: 'COMMIT' },
        ] as const;
        const { seen, written } = await interleave(sessions, observer, order, transactions);
        const stored = isOneKey || end === 'ROLLBACK' ? 1 : 2;
        expect(seen, `${order}`).toHaveLength(stored);
        if (isOneKey && end === 'COMMIT') expect(written.flat()).toHaveLength(1);
      }
    }
  });

  test('a create and an import, each of which ends or is given up', async () => {
    const importing: readonly SqlStatement[] = [
      { text: 'LOCK TABLE pets IN ROW EXCLUSIVE MODE' },
      { text: TAKE_ORDER },
      {
        text: `WITH one AS (${insertPet({ name: 'imported', status: 'sold' }).replace(';', '')}) ${insertPet({ name: 'imported', status: 'sold' })}`,
      },
    ];
    for (const ends of [
      ['COMMIT', 'COMMIT'],
      ['COMMIT', 'ROLLBACK'],
      ['ROLLBACK', 'COMMIT'],
    ] as const) {
      for (const order of ordersOf(2, 4)) {
        await observer.query('DELETE FROM pets');
        const transactions = [
          { writes: [statementFor([plain])], end: ends[0] },
          { writes: importing, end: ends[1] },
        ] as const;
        const { seen } = await interleave(sessions, observer, order, transactions);
        const stored = (ends[0] === 'COMMIT' ? 1 : 0) + (ends[1] === 'COMMIT' ? 2 : 0);
        expect(seen, `${order}`).toHaveLength(stored);
      }
    }
  });

  test('each create and each import waits for the transaction that draws ids, and draws none meanwhile', async () => {
    const storage = await openStorage(url);
    const sequence = async () => (await observer.query('SELECT last_value FROM pets_id_seq')).rows;
    const holder = await connect(url);
    for (const add of [
      () => storage.pets.add(REX),
      async () => (await storage.idempotentCreates.add(REX, attemptWith('waits'))).pet,
      async () => {
        await importPets(storage, inBatches([REX]));
        return (await walk(storage, 1000)).at(-1);
      },
    ]) {
      const before = await sequence();
      await holder.query(`BEGIN; ${TAKE_ORDER}`);
      const adding = add();
      await untilBlocked(holder);
      expect(await sequence()).toEqual(before);
      await holder.query('ROLLBACK');
      expect(await adding).toMatchObject(REX);
    }
  });

  test('a lock that is held for too long: creates fail, nothing is stored, and the storage is no faulty one', async () => {
    const states: unknown[] = [];
    const observing = { observer: { onStorageState: (fault: unknown) => states.push(fault) } };
    // The server ends the wait for the lock before the deadline, which does not come while the clock stands still.
    stopClock();
    const storage = await openStorage(withTimeout(url, 3000), observing);
    const before = await walk(storage, 1000);
    const holder = await connect(url);
    await holder.query(`BEGIN; ${TAKE_ORDER}`);
    const adding = [
      storage.pets.add(REX),
      storage.idempotentCreates.add(REX, attemptWith('late')),
      storage.idempotencyRecords.removeRecords(Date.now() + 100_000, 10),
    ];
    for (const result of await Promise.allSettled(adding)) {
      expect(result).toMatchObject({
        reason: {
          code: 'storage_unavailable',
          message:
            'another transaction held a lock of the database for too long, so nothing was stored (55P03)',
        },
      });
    }
    await storage.check();
    expect(await walk(storage, 1000)).toEqual(before);
    await holder.query('ROLLBACK');
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    expect(states).toEqual([]);
  });

  test('an import draws its ids after a create that it waits for, and a create after an import that it waits for', async () => {
    const [one, other] = [await openStorage(url), await openStorage(url)];
    const holder = await connect(url);
    await holder.query('BEGIN');
    const { rows } = await holder.query({ ...statementFor([plain]), rowMode: 'array' });
    const batches = async function* () {
      yield [named('imported'), named('imported')];
    };
    let adding: Promise<unknown> | undefined;
    const onProgress = () => {
      adding ??= other.pets.add(named('later'));
    };
    const importing = one.transfer.importPets(batches(), { ...NO_DUPLICATES, onProgress });
    await untilBlocked(holder);
    await holder.query('COMMIT');
    await importing;
    await adding;
    const names = (await walk(one, 1000)).filter(({ id }) => id >= BigInt(rows[0]?.[0] as string));
    expect(names.map(({ name }) => name)).toEqual(['Rex', 'imported', 'imported', 'later']);
  });

  test('imports with and without ids, and creates, never wait for each other in a circle', async () => {
    const empty = await newDatabaseUrl();
    const storages = await Promise.all(Array.from({ length: 3 }, () => openStorage(empty)));
    const batches = async function* (ids: boolean) {
      yield Array.from({ length: 5 }, (_, index) => (ids ? { ...REX, id: BigInt(index + 1) } : REX));
    };
    const holder = await connect(empty);
    await holder.query(`BEGIN; ${TAKE_ORDER}`);
    const results = Promise.allSettled([
      storages[0]?.transfer.importPets(batches(false), NO_DUPLICATES),
      storages[1]?.transfer.importPets(batches(true), NO_DUPLICATES),
      storages[2]?.pets.add(REX),
    ]);
    await untilBlocked(holder);
    await holder.query('COMMIT');
    const failures = (await results).filter(({ status }) => status === 'rejected');
    // Only the import of ids can fail, because the store has pets then.
    for (const failure of failures) expect(failure).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(failures.length).toBeLessThan(2);
  });

  test('creates and reads of two storages fit one order when ids come long before their commits', async () => {
    const slow = await newDatabaseUrl();
    const stores = [new AnimalStore(await openStorage(slow)), new AnimalStore(await openStorage(slow))];
    await (await connect(slow)).query(SLOW_INSERTS);
    const history = new History();
    await exercise(history, stores, { calls: 120 });
    const contradiction = history.contradiction();
    expect(contradiction, contradiction).toBeUndefined();
  });

  test('the start and the examination name what the order needs and does not have', async () => {
    const lacking = await newStoreUrl();
    const [, schema] = /search_path=(\w+)/.exec(decodeURIComponent(lacking)) ?? [];
    const other = withSetting(lacking, 'search_path', `${schema},pg_catalog`);
    const admin = await connect(lacking);
    await admin.query(`ALTER SEQUENCE pets_id_seq CACHE 20;
      CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$SELECT 'PostgreSQL 15.2-YB-2.25, on x86_64'$$`);
    const warnings: string[] = [];
    await openStorage(other, { observer: { onWarning: (message) => warnings.push(message) } });
    const harm = 'a client that follows the ids of new pets can miss some of them';
    const named = [
      `the sequence pets_id_seq must have the cache size 1 and the increment 1: ${harm}`,
      `the database only speaks the protocol of PostgreSQL: ${harm}`,
    ];
    expect(warnings).toEqual(expect.arrayContaining(named));
    const { problems } = await examinePostgresStore(other);
    expect(problems.map(({ message }) => message)).toEqual(expect.arrayContaining(named));
    const sound = await examinePostgresStore(url);
    expect(sound.problems.filter(({ message }) => message.includes(harm))).toEqual([]);
  });
});
