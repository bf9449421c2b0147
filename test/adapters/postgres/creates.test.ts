import { describe, expect, test } from 'vitest';
import type { Commit } from '../../../src/application/ports/observer.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { attemptWith, connect, named, openStorage, REX, timed, walk } from './database.ts';

/** Makes each insert of a pet with this name call `action`, a statement of PL/pgSQL. */
async function onInsertOf(url: string, name: string, action: string): Promise<void> {
  const other = await connect(url);
  await other.query(`
    CREATE SEQUENCE failures;
    CREATE FUNCTION check_pet() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF new.name = '${name}' THEN ${action} END IF; RETURN new; END $$;
    CREATE TRIGGER check_pet BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION check_pet()`);
}

/** Returns an action that fails with a code the first times. */
function failing(code: string, times: number): string {
  return `IF nextval('failures') <= ${times} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END IF;`;
}

async function attemptsOf(url: string): Promise<number> {
  const { rows } = await (await connect(url)).query('SELECT last_value::int AS count FROM failures');
  return rows[0].count;
}

describe.skipIf(!canRunPostgres)(`creates on PostgreSQL${postgresNote}`, () => {
  test('a pet that the database refuses fails alone, with and without an idempotency key', async () => {
    const url = await newDatabaseUrl();
    const commits: Commit[] = [];
    const storage = await openStorage(url, { observer: { onCommit: (commit) => commits.push(commit) } });
    const other = await connect(url);
    await other.query("ALTER TABLE pets ADD CHECK (name NOT LIKE 'bad%')");
    const names = Array.from({ length: 300 }, (_, index) => `${index % 100 === 7 ? 'bad' : 'good'} ${index}`);
    const results = await Promise.allSettled(
      names.map((name, index) =>
        index % 2 === 0
          ? storage.pets.add(named(name))
          : storage.idempotentCreates.add(named(name), attemptWith(name)).then(({ pet }) => pet),
      ),
    );
    for (const [index, result] of results.entries()) {
      if (names[index]?.startsWith('bad')) {
        expect(result).toMatchObject({ reason: { code: 'internal_error' } });
      } else expect(result).toMatchObject({ value: { name: names[index] } });
    }
    const good = names.filter((name) => name.startsWith('good'));
    expect((await walk(storage)).map(({ name }) => name).toSorted()).toEqual(good.toSorted());
    expect(await storage.idempotentCreates.count()).toBe(147);
    expect(commits.reduce((sum, { writes }) => sum + writes, 0)).toBe(297);
    await storage.check();
  });

  test('one refused pet costs few commits of the other pets', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    const other = await connect(url);
    await other.query("ALTER TABLE pets ADD CHECK (name <> 'bad')");
    const xid = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int AS xid';
    const before = (await other.query(xid)).rows[0].xid;
    const pets = Array.from({ length: 1000 }, (_, index) => named(index === 600 ? 'bad' : `good ${index}`));
    await Promise.allSettled(pets.map((pet) => storage.pets.add(pet)));
    expect((await walk(storage, 1000)).length).toBe(999);
    expect((await other.query(xid)).rows[0].xid - before).toBeLessThan(50);
  });

  test('ids are in the order of the calls', async () => {
    const storage = await openStorage(await newDatabaseUrl());
    const pets = await Promise.all(
      Array.from({ length: 2500 }, (_, index) => storage.pets.add(named(`${index}`))),
    );
    expect(pets.map(({ id }) => id)).toEqual(pets.map((_, index) => BigInt(index + 1)));
    expect((await walk(storage, 1000)).map(({ name }) => name)).toEqual(pets.map(({ name }) => name));
  });

  test.each([['without a key'], ['with a key']])('40001 is repeated: %s', async (kind) => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    await onInsertOf(url, 'Rex', failing('40001', 3));
    const names = ['one', 'Rex', 'two'];
    await Promise.all(
      names.map((name) =>
        kind === 'with a key'
          ? storage.idempotentCreates.add(named(name), attemptWith(name))
          : storage.pets.add(named(name)),
      ),
    );
    expect((await walk(storage)).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(await attemptsOf(url)).toBe(4);
    await storage.check();
  });

  test('40001 is repeated for a second, and then nothing was stored', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    await onInsertOf(url, 'Rex', failing('40001', 1_000_000));
    const { error, ms } = await timed(() => storage.pets.add(REX));
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).toMatch(/nothing was stored|ended a transaction/);
    expect(ms).toBeLessThan(2000);
    const attempts = await attemptsOf(url);
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThan(300);
    expect(await storage.pets.add(named('next'))).toMatchObject({ name: 'next' });
    expect((await walk(storage)).map(({ name }) => name)).toEqual(['next']);
  });

  test.each(['40P01', '55P03', '53200', '57014'])('%s is not repeated', async (code) => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    await onInsertOf(url, 'Rex', failing(code, 1));
    const error = await storage.pets.add(REX).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).not.toContain('unknown');
    expect(await attemptsOf(url)).toBe(1);
    expect(await walk(storage)).toEqual([]);
    await storage.check();
    expect(await storage.pets.add(REX)).toMatchObject(REX);
  });

  test('a change of a key is repeated after 40001, five times at most', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    const other = await connect(url);
    await other.query(`
      CREATE SEQUENCE failures;
      CREATE FUNCTION check_key() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN ${failing('40001', 3)} RETURN new; END $$;
      CREATE TRIGGER check_key BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION check_key()`);
    const about = { name: 'ci', prefix: 'x', createdAt: 1 };
    expect(await storage.apiKeys.add('key', about)).toMatchObject({ name: 'ci' });
    expect(await attemptsOf(url)).toBe(4);
    await other.query(`SELECT setval('failures', 1); CREATE OR REPLACE FUNCTION check_key() RETURNS trigger
      LANGUAGE plpgsql AS $$ BEGIN ${failing('40001', 1000)} RETURN new; END $$`);
    await expect(storage.apiKeys.add('other', about)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await attemptsOf(url)).toBe(6);
  });

  test('a create that waits for a lock fails within a second, and is not stored later', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    const other = await connect(url);
    await other.query('BEGIN; LOCK TABLE pets IN SHARE MODE');
    for (let count = 0; count < 3; count++) {
      const { error, ms } = await timed(() => storage.pets.add(REX));
      expect(error).toMatchObject({ code: 'storage_unavailable' });
      expect((error as Error).message).not.toContain('unknown');
      expect(ms).toBeLessThan(1500);
    }
    const waiting = await other.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    expect(waiting.rows).toEqual([]);
    await other.query('ROLLBACK');
    expect(await storage.pets.add(named('next'))).toMatchObject({ name: 'next' });
    expect((await walk(storage)).map(({ name }) => name)).toEqual(['next']);
    await storage.check();
  });

  test('a short lock delays creates, and no create fails', async () => {
    const url = await newDatabaseUrl();
    const storage = await openStorage(url);
    const other = await connect(url);
    await other.query('BEGIN; LOCK TABLE pets IN SHARE MODE');
    const adding = storage.pets.add(REX);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await other.query('ROLLBACK');
    expect(await adding).toMatchObject(REX);
  });
});
