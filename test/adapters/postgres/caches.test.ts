/** Reads that are shared between calls, and cached. Needs no PostgreSQL. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKeyRepository } from '../../../src/adapters/postgres/api-key-repository.ts';
import type { ResultRow, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import type { AddCreate } from '../../../src/adapters/postgres/creates.ts';
import { petRepository } from '../../../src/adapters/postgres/pet-repository.ts';
import { hashOf } from '../../../src/adapters/storage-kit/key-rows.ts';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import { valuesOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { REX } from '../../support/pets.ts';

type Pool = Parameters<typeof petRepository>[0];

/** A pool of four connections, of which `busy` are busy, and the statements that it received. */
function poolOf(rowsFor: (statement: SqlStatement) => Promise<readonly ResultRow[]>, busy = 0) {
  const sent: SqlStatement[] = [];
  const run = (statement: SqlStatement) => {
    sent.push(statement);
    return rowsFor(statement);
  };
  const pool = {
    max: 4,
    statistics: { busy, idle: 0, waiting: 0 },
    assertOpen: () => {},
    read(statement: SqlStatement, onSend?: () => void) {
      onSend?.();
      return run(statement);
    },
    write: (text: string, values: unknown[]) => run({ text, values }),
  } as unknown as Pool;
  return { pool, sent, names: () => sent.splice(0).map(({ name }) => name) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

describe('pages', () => {
  /** A store with one pet. `database.version` is `undefined` if the statement does not ask for it. */
  function openPages(hasVersion = true) {
    const database: { version: string | undefined; gate: Promise<void> } = {
      version: hasVersion ? 'one' : undefined,
      gate: Promise.resolve(),
    };
    const opened = poolOf(async ({ name }) => {
      const { version } = database;
      await database.gate;
      return name === 'version' ? [[version]] : [[1n, ...valuesOf(REX), version]];
    });
    const cache = new PageCache();
    const { list } = petRepository(opened.pool, (async () => undefined) as AddCreate, cache, hasVersion);
    return { ...opened, database, cache, list: (limit = 5) => list({ limit }) };
  }

  test('are read until the version stays the same, and then only the version is', async () => {
    const { list, names, cache, database } = openPages();
    const first = await list();
    expect(first).toEqual({ pets: [{ ...REX, id: 1n }], more: false });
    for (let times = 0; times < 3; times++) expect(await list()).toBe(first);
    expect(names()).toEqual(['list', 'list', 'version', 'version']);
    expect(cache.statistics).toEqual({ hits: 2, misses: 2 });
    database.version = 'two';
    const next = await list();
    expect(next).not.toBe(first);
    for (let times = 0; times < 2; times++) expect(await list()).toBe(next);
    expect(names()).toEqual(['version', 'list', 'version', 'version']);
    expect(cache.statistics).toEqual({ hits: 4, misses: 3 });
    await list(6);
    expect(names()).toEqual(['list']);
  });

  test('are read each time if the database has no version', async () => {
    const { list, names, cache } = openPages(false);
    for (let times = 0; times < 3; times++) await list();
    expect(names()).toEqual(['list', 'list', 'list']);
    expect(cache.statistics).toEqual({ hits: 0, misses: 3 });
  });

  test('that are asked for at once share a statement, until it is sent', async () => {
    const { list, names, sent, database } = openPages();
    const { promise, resolve } = Promise.withResolvers<void>();
    database.gate = promise;
    const early = [list(), list()];
    await vi.waitUntil(() => sent.length > 0);
    const late = list();
    await vi.waitUntil(() => sent.length > 1);
    resolve();
    const [one, two] = await Promise.all(early);
    expect(one).toBe(two);
    await late;
    expect(names()).toEqual(['list', 'list']);
  });
});

describe('gets', () => {
  const FOUND = 3n;

  /** Makes calls with the ids from 1. Returns the numbers of ids in their statements, each of which takes `ms`. */
  function openGets(busy = 0) {
    let ms = 0;
    const { pool, sent } = poolOf(async () => {
      vi.advanceTimersByTime(ms);
      return [[FOUND, ...valuesOf(REX)]];
    }, busy);
    const { find } = petRepository(pool, (async () => undefined) as AddCreate, new PageCache(), true);
    const sizesOf = async (count: number, time: number) => {
      ms = time;
      const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
      const pets = await Promise.all(ids.map((id) => find(id)));
      expect(pets).toEqual(ids.map((id) => (id === FOUND ? { ...REX, id } : undefined)));
      return sent.splice(0).map(({ name, values: [ids] = [] }) => {
        expect(name).toBe(typeof ids === 'bigint' ? 'find-one' : 'find');
        return `${ids}`.split(',').length;
      });
    };
    return { sizesOf };
  }

  test('are shared out to the free connections, in larger groups while the database is fast', async () => {
    const { sizesOf } = openGets();
    expect(await sizesOf(1, 1)).toEqual([1]);
    expect(await sizesOf(8, 3)).toEqual([6, 2]);
    expect(await sizesOf(100, 9)).toEqual([25, 25, 25, 25]);
    expect(await sizesOf(20, 9)).toEqual([16, 4]);
    expect(await sizesOf(8, 0)).toEqual([6, 2]);
    expect(await openGets(3).sizesOf(40, 1)).toEqual([40]);
    expect(await openGets(4).sizesOf(40, 1)).toEqual([40]);
  });

  test('that fail are all rejected', async () => {
    const { pool } = poolOf(() => Promise.reject(new Error('no')));
    const { find } = petRepository(pool, (async () => undefined) as AddCreate, new PageCache(), true);
    const results = await Promise.allSettled([find(1n), find(2n)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('keys', () => {
  /** A store with the key `known`, and every key that begins with `known`. */
  function openKeys() {
    const known = new Set<string>();
    const asked = poolOf(async ({ values: [hash] = [] }) => {
      const isKnown = Buffer.isBuffer(hash) && known.has(hash.toString('hex'));
      return isKnown ? [['1', hash, 'name', 'hint', 1]] : [];
    });
    const keys = apiKeyRepository(asked.pool);
    const ask = async (...names: string[]) => {
      for (const name of names) {
        if (name.startsWith('known')) known.add(hashOf(name).toString('hex'));
        await keys.find(name);
      }
      return asked.names().length;
    };
    return { keys, ask };
  }

  test('are cached for 0.9 seconds, until a key changes, and unknown ones are not', async () => {
    const { keys, ask } = openKeys();
    expect(await ask('known', 'known', 'other', 'other')).toBe(3);
    vi.advanceTimersByTime(899);
    expect(await ask('known')).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await ask('known', 'known')).toBe(1);
    await keys.revoke('1', 2);
    expect(await ask('known')).toBe(2);
    expect(keys.statistics).toEqual({ hits: 3, misses: 5 });
  });

  test('are cached up to 1,000', async () => {
    const { ask } = openKeys();
    const names = Array.from({ length: 1000 }, (_, index) => `known ${index}`);
    expect(await ask(...names, ...names)).toBe(1000);
    expect(await ask('known more', 'known 0')).toBe(2);
  });
});
