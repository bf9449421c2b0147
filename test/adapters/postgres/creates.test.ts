import { describe, expect, test } from 'vitest';
import type { Commit } from '../../../src/application/ports/observer.ts';
import { stopClock } from '../../support/clock.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { attemptWith, named, openStorage, openStore, REX, walk, withTimeout } from './database.ts';

/** Makes each insert of a pet with this name call `action`, a statement of PL/pgSQL. */
async function onInsertOf(url: string, name: string, action: string): Promise<void> {
  const other = await connect(url);
  await other.query(`
    CREATE SEQUENCE failures;
    CREATE FUNCTION check_pet(name text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN IF name = '${name}' THEN ${action} END IF; RETURN true; END $$;
    ALTER TABLE pets ADD CHECK (check_pet(name)) NOT VALID`);
}

/** Returns an action that fails with a code the first times. */
function failing(code: string, times: number): string {
  return `IF nextval('failures') <= ${times} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END IF;`;
}

/** The connections that wait for the lock of a table. */
const WAITING = "SELECT pid FROM pg_locks WHERE relation = 'pets'::regclass AND NOT granted";

async function attemptsOf(url: string): Promise<number> {
  const { rows } = await (await connect(url)).query('SELECT last_value::int AS count FROM failures');
  return rows[0].count;
}

describe.skipIf(!canRunPostgres)(`creates on PostgreSQL${postgresNote}`, () => {
  test('a pet that the database refuses fails alone, with and without an idempotency key, and costs few commits', async () => {
    const url = await newDatabaseUrl();
    const commits: Commit[] = [];
    const storage = await openStorage(url, { observer: { onCommit: (commit) => commits.push(commit) } });
    const other = await connect(url);
    await other.query("ALTER TABLE pets ADD CHECK (name NOT LIKE 'bad%')");
    const names = Array.from({ length: 300 }, (_, index) => `${index % 75 === 7 ? 'bad' : 'good'} ${index}`);
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
    expect(await storage.idempotencyRecords.count()).toBe(148);
    expect(commits.reduce((sum, { writes }) => sum + writes, 0)).toBe(296);
    expect(commits.length).toBeLessThan(60);
    await storage.check();
  });

  test('ids are in the order of the calls', async () => {
    const { storage } = await openStore();
    const pets = await Promise.all(
      Array.from({ length: 2500 }, (_, index) => storage.pets.add(named(`${index}`))),
    );
    expect(pets.map(({ id }) => id)).toEqual(pets.map((_, index) => BigInt(index + 1)));
    expect((await walk(storage, 1000)).map(({ name }) => name)).toEqual(pets.map(({ name }) => name));
  });

  test.each([['without a key'], ['with a key']])('40001 is repeated: %s', async (kind) => {
    const { url, storage } = await openStore();
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

  test.each(['40P01', '55P03', '53200', '57014'])('%s is not repeated', async (code) => {
    const { url, storage } = await openStore();
    await onInsertOf(url, 'Rex', failing(code, 1));
    const error = await storage.pets.add(REX).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect((error as Error).message).not.toContain('unknown');
    expect(await attemptsOf(url)).toBe(1);
    expect(await walk(storage)).toEqual([]);
    await storage.check();
    expect(await storage.pets.add(REX)).toMatchObject(REX);
  });

  test('a create that waits for a lock fails at its deadline, and is not stored later', async () => {
    const url = await newDatabaseUrl();
    // The server cancels the statement before the deadline, which does not come while the clock stands still.
    stopClock();
    const storage = await openStorage(withTimeout(url, 1000));
    const other = await connect(url);
    await other.query('BEGIN; LOCK TABLE pets IN SHARE MODE');
    await expect(storage.pets.add(REX)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.not.stringContaining('unknown'),
    });
    expect((await other.query(WAITING)).rows).toEqual([]);
    await other.query('ROLLBACK');
    const calm = await openStorage(url);
    expect(await calm.pets.add(named('next'))).toMatchObject({ name: 'next' });
    expect((await walk(calm)).map(({ name }) => name)).toEqual(['next']);
  });
});
