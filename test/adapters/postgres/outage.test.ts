import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import {
  canRunPostgres,
  canStartPostgres,
  newDatabaseUrl,
  postgresNote,
  startPostgresNote,
} from '../../support/postgres/index.ts';
import {
  attemptWith,
  changed,
  connect,
  named,
  openStorage,
  REX,
  startServer,
  timed,
  walk,
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
    'remove records': () => storage.idempotentCreates.removeRecords(0, 10),
    check: () => storage.check(),
  };
}

async function isBack(storage: Storage): Promise<boolean> {
  const results = await Promise.allSettled(Object.values(callsOf(storage)).map((call) => call()));
  return results.every(({ status }) => status === 'fulfilled');
}

async function untilBack(storage: Storage, within: number): Promise<void> {
  await expect.poll(() => isBack(storage), { timeout: within, interval: 100 }).toBe(true);
}

describe.skipIf(!canStartPostgres)(`an outage of PostgreSQL${startPostgresNote}`, () => {
  test('a frozen server: each call fails within 2 s, and everything works afterwards', {
    timeout: 60_000,
  }, async () => {
    const server = await startServer();
    const states: (string | undefined)[] = [];
    const storage = await openStorage(server.url, {
      observer: { onStorageState: (fault) => states.push(fault?.reason) },
    });
    await storage.idempotentCreates.add(REX, attemptWith('known'));
    await storage.apiKeys.add('first', about);
    expect(await isBack(storage)).toBe(true);
    // The next check does not share the test of the last one.
    await delay(600);
    server.freeze();
    for (let round = 0; round < 3; round++) {
      const calls = Object.entries(callsOf(storage));
      const results = await Promise.all(calls.map(([, call]) => timed(call)));
      for (const [index, { error, ms }] of results.entries()) {
        const name = calls[index]?.[0];
        expect([name, error]).toEqual([name, expect.objectContaining({ code: 'storage_unavailable' })]);
        expect([name, ms < 2200]).toEqual([name, true]);
        // The first creates were sent, the later ones have found no connection.
        if (round === 0 && name === 'add') {
          expect((error as Error).message).toMatch(/unknown whether this was stored$/);
        }
      }
    }
    await expect(storage.check()).rejects.toMatchObject({ reason: 'not_responding' });
    server.thaw();
    await untilBack(storage, 3000);
    expect(states.at(0)).toBe('not_responding');
    expect(states.at(-1)).toBeUndefined();
  });

  test('calls that arrive all the time while the server is frozen fail within 2 s each', async () => {
    const server = await startServer();
    const storage = await openStorage(server.url);
    await storage.pets.add(REX);
    server.freeze();
    const calls: ReturnType<typeof timed>[] = [];
    for (let count = 0; count < 60; count++) {
      calls.push(
        timed(() => storage.pets.add(REX)),
        timed(() => storage.pets.find(1n)),
      );
      await delay(50);
    }
    const results = await Promise.all(calls);
    server.thaw();
    expect(Math.max(...results.map(({ ms }) => ms))).toBeLessThan(2200);
    for (const { error } of results) expect(error).toMatchObject({ code: 'storage_unavailable' });
  });

  test('close ends within 3 s although the server is frozen', async () => {
    const server = await startServer();
    for (const isBusy of [false, true]) {
      const storage = await openStorage(server.url);
      await storage.pets.add(REX);
      await storage.apiKeys.list();
      const exporting = storage.transfer.exportPets()[Symbol.asyncIterator]();
      await exporting.next();
      server.freeze();
      const adding = isBusy ? timed(() => storage.pets.add(REX)) : undefined;
      const { ms } = await timed(() => storage.close());
      expect(ms).toBeLessThan(3000);
      if (adding !== undefined) expect((await adding).error).toMatchObject({ code: 'storage_unavailable' });
      server.thaw();
      await exporting.return?.();
    }
  });

  test.each(['fast', 'immediate'] as const)('a restart: nothing acknowledged is lost: %s', async (mode) => {
    const server = await startServer();
    const storage = await openStorage(server.url);
    const acknowledged: bigint[] = [];
    const failures: unknown[] = [];
    let isRunning = true;
    const work = Array.from({ length: 4 }, async () => {
      while (isRunning) {
        await storage.pets.add(REX).then(
          ({ id }) => acknowledged.push(id),
          (error: unknown) => failures.push(error),
        );
        await delay(2);
      }
    });
    for (let round = 0; round < 2; round++) {
      await delay(200);
      await server.stop(mode);
      expect((await timed(() => storage.pets.find(1n))).error).toMatchObject({ code: 'storage_unavailable' });
      await expect(storage.check()).rejects.toMatchObject({ reason: 'unreachable' });
      await server.start();
      await untilBack(storage, 3000);
    }
    isRunning = false;
    await Promise.all(work);
    for (const error of failures) expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    const stored = new Set((await walk(storage, 1000)).map(({ id }) => id));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });
});

describe.skipIf(!canRunPostgres)(`a PostgreSQL server that refuses${postgresNote}`, () => {
  test('connections: calls fail within a second, and work again by themselves', async () => {
    const url = await newDatabaseUrl();
    const database = new URL(url).pathname.slice(1);
    const admin = await connect(url);
    await admin.query(`CREATE ROLE ${database} LOGIN; GRANT ALL ON DATABASE ${database} TO ${database};
      GRANT ALL ON SCHEMA public TO ${database}`);
    const storage = await openStorage(changed(url, { username: database }));
    await storage.pets.add(REX);
    await admin.query(`ALTER ROLE ${database} CONNECTION LIMIT 0`);
    await admin.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${database}'`,
    );
    await delay(50);
    for (let round = 0; round < 2; round++) {
      const calls = Object.entries(callsOf(storage)).filter(([name]) => name !== 'check');
      for (const [name, { error, ms }] of await Promise.all(
        calls.map(async ([name, call]) => [name, await timed(call)] as const),
      )) {
        expect([name, error]).toEqual([
          name,
          expect.objectContaining({ code: 'storage_unavailable', reason: 'unreachable' }),
        ]);
        expect(ms).toBeLessThan(1100);
        expect((error as StorageFault).message).toContain('53300');
      }
      await expect(storage.check()).rejects.toMatchObject({ reason: 'unreachable' });
    }
    await admin.query(`ALTER ROLE ${database} CONNECTION LIMIT -1`);
    await untilBack(storage, 3000);
    await storage.close();
    await admin.query(`DROP OWNED BY ${database}; DROP ROLE ${database}`);
  });

  test('writes: reads and creates fail with read_only, and work again by themselves', async () => {
    const url = await newDatabaseUrl();
    const database = new URL(url).pathname.slice(1);
    const admin = await connect(url);
    const states: (string | undefined)[] = [];
    const storage = await openStorage(url, {
      observer: { onStorageState: (fault) => states.push(fault?.reason) },
    });
    await storage.pets.add(REX);
    await admin.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    await admin.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await delay(50);
    const calls: (() => Promise<unknown>)[] = [
      () => storage.pets.add(named('lost')),
      () => storage.pets.list({ limit: 1 }),
    ];
    for (const call of calls) {
      const { error, ms } = await timed(call);
      expect(error).toMatchObject({ code: 'storage_unavailable', reason: 'read_only' });
      expect((error as Error).message).not.toContain('unknown');
      expect(ms).toBeLessThan(1000);
    }
    await expect(storage.check()).rejects.toMatchObject({ reason: 'read_only' });
    await admin.query('SET default_transaction_read_only = off');
    await admin.query(`ALTER DATABASE ${database} RESET default_transaction_read_only`);
    await untilBack(storage, 3000);
    expect(states).toEqual(['read_only', undefined]);
  });

  test('reads, because a table is missing: the fault is named, and ends with the table', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    await storage.pets.add(REX);
    const admin = await connect(url);
    await admin.query('ALTER TABLE pets RENAME TO moved');
    for (const call of [() => storage.pets.list({ limit: 1 }), () => storage.pets.add(REX)]) {
      await expect(call()).rejects.toMatchObject({ code: 'storage_unavailable', reason: 'damaged' });
    }
    await admin.query('ALTER TABLE moved RENAME TO pets');
    expect((await storage.pets.list({ limit: 1 })).pets).toHaveLength(1);
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    await storage.check();
  });
});
