import type { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { canStartPostgres, startPostgresNote } from '../../support/postgres/index.ts';
import {
  attemptWith,
  connect,
  NO_DUPLICATES,
  named,
  openStorage,
  REX,
  startServer,
  timed,
} from './database.ts';

const UNKNOWN = /it is unknown whether this was stored$/;

/** Starts a server whose commits wait for a standby that does not exist, after the store was created. */
async function withoutStandby(): Promise<{ storage: Storage; admin: Client }> {
  const server = await startServer({ lc_messages: 'C' });
  const storage = await openStorage(`${server.url}?query_timeout=10000`);
  const admin = await connect(server.url);
  await admin.query('SET synchronous_commit = local');
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await admin.query('SELECT pg_reload_conf()');
  await expect
    .poll(async () => (await admin.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names)
    .toBe('nobody');
  return { storage, admin };
}

/** Ends the wait of each commit for its standby. */
async function endWaits(admin: Client, end: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
  const sql = `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  await expect.poll(async () => (await admin.query(sql)).rowCount).toBeGreaterThan(0);
}

describe.skipIf(!canStartPostgres)(`a commit that no standby confirms${startPostgresNote}`, () => {
  test.each(['pg_cancel_backend', 'pg_terminate_backend'] as const)(
    'has an unknown outcome after %s',
    async (end) => {
      const { storage, admin } = await withoutStandby();
      const batch = async function* () {
        yield [named('imported')];
      };
      const about = { name: 'ci', prefix: 'x', createdAt: 1 };
      const writes: Record<string, () => Promise<unknown>> = {
        create: () => storage.pets.add(named('create')),
        'create with a key': () =>
          storage.idempotentCreates.add(named('create with a key'), attemptWith('key')),
        key: () => storage.apiKeys.add('key', about),
        'first key': () => storage.apiKeys.addFirst('first key', about),
      };
      // `addFirst` stores nothing after `add`.
      if (end === 'pg_cancel_backend') delete writes['key'];
      else delete writes['first key'];
      for (const [name, write] of Object.entries(writes)) {
        const outcome = write().then(
          () => 'acknowledged',
          (error: Error) => error.message,
        );
        await endWaits(admin, end);
        expect([name, await outcome]).toEqual([name, expect.stringMatching(UNKNOWN)]);
      }
      if (end === 'pg_cancel_backend') {
        // The temporary table of the import is not confirmed, so the import stores nothing.
        const importing = storage.transfer.importPets(batch(), NO_DUPLICATES).catch((error: Error) => error);
        await endWaits(admin, end);
        expect(await importing).toMatchObject({ code: 'storage_unavailable' });
      }
      // Each other transaction was committed on this server.
      const { rows } = await admin.query('SELECT name FROM pets ORDER BY name');
      expect(rows.map(({ name }) => name)).toEqual(['create', 'create with a key']);
      await admin.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await admin.query('SELECT pg_reload_conf()');
      await expect.poll(() => storage.pets.add(REX).catch(() => undefined)).toMatchObject(REX);
      const replay = await storage.idempotentCreates.add(named('create with a key'), attemptWith('key'));
      expect(replay.isReplay).toBe(true);
      await storage.check();
    },
  );

  test('fails within a second, and is not cancelled', async () => {
    const server = await startServer();
    const storage = await openStorage(server.url);
    const admin = await connect(server.url);
    await admin.query('SET synchronous_commit = local');
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await admin.query('SELECT pg_reload_conf()');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { error, ms } = await timed(() => storage.pets.add(REX));
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).toMatch(UNKNOWN);
    expect(ms).toBeLessThan(1500);
    const waiting = await admin.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    expect(waiting.rowCount).toBe(1);
    expect(await storage.pets.list({ limit: 1 })).toMatchObject({ pets: [], more: false });
    await expect(storage.check()).rejects.toMatchObject({ reason: 'not_responding' });
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await admin.query('SELECT pg_reload_conf()');
    await expect
      .poll(
        () =>
          storage.check().then(
            () => 'ready',
            () => 'not ready',
          ),
        { timeout: 5000 },
      )
      .toBe('ready');
    expect((await storage.pets.list({ limit: 10 })).pets).toHaveLength(1);
  });
});
