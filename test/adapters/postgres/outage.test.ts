import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { PET_COLUMNS } from '../../../src/adapters/storage-kit/pet-rows.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { stopClock } from '../../support/clock.ts';
import {
  connect,
  describePostgres,
  openClient,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres/index.ts';
import { signal } from '../../support/postgres/server.ts';
import {
  attemptWith,
  endConnectionsOf,
  named,
  newUser,
  openStorage,
  REX,
  walk,
  withSetting,
  withTimeout,
} from './database.ts';

const about = { name: 'ci', prefix: 'x', createdAt: 1 };

/** One call of each kind that a server makes. */
function callsOf(storage: Storage): Readonly<Record<string, () => Promise<unknown>>> {
  return {
    find: () => storage.pets.find(1n),
    list: () => storage.pets.list({ limit: 3 }),
    add: () => storage.pets.add(REX),
    'add with a key': () => storage.idempotentCreates.add(REX, attemptWith('key')),
    'add with the key of another caller': () =>
      storage.idempotentCreates.add(REX, { ...attemptWith('key'), caller: '2' }),
    'find a key': () => storage.apiKeys.find('other'),
    'add a key': () => storage.apiKeys.add(`key ${Math.random()}`, about),
    'add the first key': () => storage.apiKeys.addFirst('key', about),
    'list keys': () => storage.apiKeys.list(),
    'revoke a key': () => storage.apiKeys.revoke('1', 2),
    'remove records': () => storage.idempotencyRecords.removeRecords(10),
    check: () => storage.check(),
  };
}

/** Calls all functions at once. Resolves with the errors of those that fail, by their names. */
async function errorsOf(calls: Readonly<Record<string, () => Promise<unknown>>>): Promise<object> {
  const errors: [string, unknown][] = [];
  const run = ([name, call]: [string, () => Promise<unknown>]) =>
    call().catch((error: unknown) => errors.push([name, error]));
  await Promise.all(Object.entries(calls).map(run));
  return Object.fromEntries(errors);
}

/** Returns what `errorsOf` resolves with when each call fails with such an error. */
function allFail(calls: object, error: object): object {
  return Object.fromEntries(Object.keys(calls).map((name) => [name, expect.objectContaining(error)]));
}

async function untilBack(storage: Storage): Promise<void> {
  await expect.poll(() => errorsOf(callsOf(storage)), { interval: 100 }).toEqual({});
}

describePostgres('an outage of PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({ autovacuum: 'off' });
  });

  afterAll(() => server.close());

  function freeze(): void {
    onTestFinished(() => server.thaw());
    server.freeze();
  }

  /** Stops a process of the server until the end of the test. */
  function stopProcess(pid: number): void {
    onTestFinished(() => signal(pid, 'SIGCONT'));
    signal(pid, 'SIGSTOP');
  }

  /** Creates a schema, and returns its URL. */
  async function newSchemaUrl(name: string): Promise<string> {
    const client = await openClient(server.url);
    await client.query(`CREATE SCHEMA ${name}`);
    await client.end();
    return withTimeout(withSetting(server.url, 'search_path', name), 10_000);
  }

  test('a frozen server: each call fails at its deadline, and everything works afterwards', async () => {
    const states: (string | undefined)[] = [];
    const url = await newSchemaUrl('frozen');
    const clock = stopClock();
    const storage = await openStorage(url, {
      observer: { onStorageState: (fault) => states.push(fault?.reason) },
    });
    const calls = callsOf(storage);
    await untilBack(storage);
    // After this time, the next check tests the storage again.
    clock.pass(600);
    states.length = 0;
    freeze();
    const errors = await clock.passUntil(errorsOf(calls));
    expect(errors).toEqual(allFail(calls, { code: 'storage_unavailable' }));
    const message = expect.stringMatching(/it is unknown whether this was stored$/);
    expect(errors).toMatchObject({ add: { message } });
    await expect(clock.passUntil(storage.check())).rejects.toMatchObject({ reason: 'not_responding' });
    server.thaw();
    await untilBack(storage);
    expect(states.at(0)).toBe('not_responding');
    expect(states.at(-1)).toBeUndefined();
  });

  test('close ends although the server is frozen', async () => {
    const url = await newSchemaUrl('closed');
    const sockets = () => process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length;
    const before = sockets();
    const storage = await openStorage(url);
    await Promise.all([storage.pets.add(REX), storage.pets.find(1n), storage.apiKeys.list()]);
    const exporting = storage.transfer.exportPets()[Symbol.asyncIterator]();
    await exporting.next();
    const clock = stopClock();
    freeze();
    const adding = storage.pets.add(REX).catch((error: unknown) => error);
    await clock.passUntil(storage.close());
    expect(await adding).toMatchObject({ code: 'storage_unavailable' });
    // No connection keeps the process alive.
    expect(sockets()).toBeLessThanOrEqual(before);
    server.thaw();
    await exporting.return?.();
  });

  test('a stopped process of the server: no read fails', async () => {
    const storage = await openStorage(await newSchemaUrl('process'));
    const { id } = await storage.pets.add(REX);
    const admin = await connect(server.url);
    const pidOf = async (pattern: string): Promise<number> => {
      const sql = 'SELECT pid FROM pg_stat_activity WHERE query LIKE $1 AND pid <> pg_backend_pid()';
      const look = async () => (await admin.query<{ pid: number }>(sql, [pattern])).rows[0]?.pid;
      return Number(await vi.waitUntil(look, 100_000));
    };
    const clock = stopClock();
    let reads = 0;
    let isReading = true;
    const reading = Array.from({ length: 8 }, async () => {
      while (isReading) {
        await Promise.all([storage.pets.find(id), storage.pets.list({ limit: 3 })]);
        reads++;
      }
    });
    await expect.poll(() => reads).toBeGreaterThan(100);
    stopProcess(await pidOf(`SELECT ${PET_COLUMNS} FROM pets WHERE id%`));
    const before = reads;
    await expect.poll(() => reads).toBeGreaterThan(before + 1000);
    isReading = false;
    await clock.passUntil(Promise.all(reading));
    // The first check can take the connection of the stopped process, if no read has taken it.
    await clock.passUntil(storage.check()).catch(() => {});
    await storage.check();
  });
});

describePostgres('a PostgreSQL server that refuses', () => {
  test('connections: calls fail, and work again by themselves', async () => {
    const { url, username, admin } = await newUser();
    const storage = await openStorage(withTimeout(url, 1000));
    await storage.pets.add(REX);
    await admin.query(`ALTER ROLE ${username} CONNECTION LIMIT 0`);
    await endConnectionsOf(admin, url);
    const { check, ...calls } = callsOf(storage);
    for (let round = 0; round < 2; round++) {
      const errors = await errorsOf(calls);
      expect(errors).toEqual(allFail(calls, { code: 'storage_unavailable' }));
      const refused = { reason: 'unreachable', message: expect.stringContaining('53300') };
      expect(errors).toMatchObject({ find: refused, list: refused, add: refused });
      await expect(check?.()).rejects.toMatchObject({ reason: 'unreachable' });
    }
    await admin.query(`ALTER ROLE ${username} CONNECTION LIMIT -1`);
    await untilBack(storage);
  });

  test('writes: creates fail with read_only, reads go on, and creates work again by themselves', async () => {
    const { url, username, admin } = await newUser();
    const states: (string | undefined)[] = [];
    const storage = await openStorage(url, {
      observer: { onStorageState: (fault) => states.push(fault?.reason) },
    });
    await storage.pets.add(REX);
    await admin.query(`ALTER ROLE ${username} SET default_transaction_read_only = on`);
    await endConnectionsOf(admin, url);
    await expect(storage.pets.add(named('lost'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      reason: 'read_only',
      message: expect.not.stringContaining('unknown'),
    });
    expect(await walk(storage)).toMatchObject([REX]);
    const reason = () => storage.check().catch((error) => error.reason);
    expect(await reason()).toBe('read_only');
    await admin.query('ALTER TABLE animal_store_schema RENAME TO other');
    await expect.poll(reason).toBe('damaged');
    await admin.query('ALTER TABLE other RENAME TO animal_store_schema');
    await admin.query(`ALTER ROLE ${username} RESET default_transaction_read_only`);
    await untilBack(storage);
    // Each session that was opened meanwhile keeps the setting, until it has refused a create.
    expect(new Set(states)).toEqual(new Set(['read_only', 'damaged', undefined]));
    expect(states.at(-1)).toBeUndefined();
  });
});
