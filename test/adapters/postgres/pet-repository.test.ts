/** The order and the number of the statements of a repository, over a database that answers when a test says so. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ResultRow, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import type { Creates } from '../../../src/adapters/postgres/creates.ts';
import { petRepository } from '../../../src/adapters/postgres/pet-repository.ts';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import type { PetRepository } from '../../../src/application/ports/pet-repository.ts';

interface Sent {
  readonly statement: SqlStatement;
  readonly answer: (rows: readonly ResultRow[] | Promise<never>) => void;
}

let sent: Sent[];
let pageCache: PageCache;
let repository: PetRepository;

const delay = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

const read = (statement: SqlStatement): Promise<readonly ResultRow[]> =>
  new Promise((answer) => sent.push({ statement, answer }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  sent = [];
  pageCache = new PageCache();
  repository = petRepository(read, {} as Creates, pageCache, true);
  return () => void vi.useRealTimers();
});

const rowOf = (id: bigint): ResultRow => [id, `pet ${id}`, 1n, 'sold'];

/** Reads are sent at the end of a turn of the event loop, and their results can cause further reads. */
async function nextTurns(): Promise<void> {
  for (let turns = 0; turns < 6; turns++) await nextTurn();
}

const namesSent = () => sent.map(({ statement }) => statement.name);
const idsIn = ({ statement }: Sent) =>
  String(statement.values?.[0]).replace(/[{}]/g, '').split(',').map(BigInt);

async function answerNext(rows: readonly ResultRow[] | Promise<never>): Promise<void> {
  if (sent.length === 0) await nextTurns();
  const next = sent.shift();
  if (next === undefined) throw new Error('no statement was sent');
  next.answer(rows);
}

describe('pets by their ids', () => {
  test('the calls of one turn share statements of few pets each, and a call that is alone is sent by itself', async () => {
    const ids = Array.from({ length: 13 }, (_, index) => BigInt(index + 1));
    const pets = ids.map((id) => repository.find(id));
    await nextTurn();
    expect(namesSent()).toEqual(['find', 'find', 'find-one']);
    expect(sent.map(idsIn)).toEqual([ids.slice(0, 6), ids.slice(6, 12), [13n]]);
    // A later call waits for none of them, and an id without a pet is found by none.
    const later = repository.find(20n);
    await nextTurn();
    await sent.pop()?.answer([]);
    expect(await later).toBeUndefined();
    for (const each of sent.splice(0)) each.answer(idsIn(each).map(rowOf).toReversed());
    expect((await Promise.all(pets)).map((pet) => pet?.id)).toEqual(ids);
  });

  test('equal ids, and the failure of a statement, belong to each call', async () => {
    const twice = [repository.find(7n), repository.find(7n)];
    await answerNext([rowOf(7n)]);
    expect(await Promise.all(twice)).toEqual([7n, 7n].map((id) => expect.objectContaining({ id })));
    const failing = [repository.find(1n), repository.find(2n)];
    if (sent.length === 0) await nextTurn();
    sent.shift()?.answer(Promise.reject(new Error('refused')));
    for (const result of await Promise.allSettled(failing)) {
      expect(result).toMatchObject({ reason: { message: 'refused' } });
    }
  });
});

describe('pages', () => {
  const query = { limit: 2 };
  const pageAt = (version: string, ...ids: bigint[]): ResultRow[] => ids.map((id) => [...rowOf(id), version]);
  const versionOf = (version: string): ResultRow[] => [[version]];

  async function listed(): Promise<readonly [readonly bigint[], boolean]> {
    const { pets, more } = await repository.list(query);
    return [pets.map(({ id }) => id), more];
  }

  /** Reads the page twice, so that it is expected to be up to date. */
  async function cache(): Promise<void> {
    for (let times = 0; times < 2; times++) {
      const page = listed();
      await answerNext(pageAt('5:5:', 1n, 2n, 3n));
      expect(await page).toEqual([[1n, 2n], true]);
    }
  }

  test('equal queries that wait are one statement, which is sent after the one in flight', async () => {
    const first = listed();
    await nextTurns();
    const others = [listed(), listed()];
    await nextTurns();
    expect(namesSent()).toEqual(['list']);
    await answerNext(pageAt('5:5:', 1n));
    expect(await first).toEqual([[1n], false]);
    await nextTurns();
    expect(namesSent()).toEqual(['list']);
    await answerNext(pageAt('6:6:', 1n, 2n));
    expect(await Promise.all(others)).toEqual(Array(2).fill([[1n, 2n], false]));
  });

  test('a page without pets is read each time', async () => {
    for (let times = 0; times < 3; times++) {
      const page = listed();
      await answerNext([]);
      expect(await page).toEqual([[], false]);
    }
  });

  test('a cached page is returned again after an equal version, and is the same object', async () => {
    await cache();
    const lists = [repository.list(query), repository.list(query)];
    await nextTurns();
    expect(namesSent()).toEqual(['version']);
    await answerNext(versionOf('5:5:'));
    const later = repository.list(query);
    await answerNext(versionOf('5:5:'));
    const [one, other] = await Promise.all(lists);
    expect(one).toBe(other);
    expect(await later).toBe(one);
    expect(pageCache.statistics).toEqual({ hits: 3, misses: 2 });
  });

  test('the version has the start of the server and the last reset of its statistics', async () => {
    void listed();
    await nextTurns();
    const version =
      'pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()';
    expect(sent[0]?.statement.text).toContain(version);
  });

  test('another version leads to another read', async () => {
    await cache();
    const page = listed();
    await answerNext(versionOf('5:6:'));
    await nextTurns();
    expect(namesSent()).toEqual(['list']);
    await answerNext(pageAt('5:6:', 9n));
    expect(await page).toEqual([[9n], false]);
  });

  test('a page from a connection that was late is not returned for a newer version', async () => {
    await cache();
    const late = listed();
    await nextTurns();
    const next = listed();
    for (let times = 0; times < 2; times++) {
      await delay(30);
      await nextTurns();
    }
    expect(namesSent()).toEqual(['version', 'version']);
    // The second connection sees a commit that the first did not see.
    const [first] = sent.splice(0, 1);
    await answerNext(versionOf('6:6:'));
    await nextTurns();
    await answerNext(pageAt('6:6:', 8n));
    expect(await next).toEqual([[8n], false]);
    first?.answer(versionOf('5:5:'));
    await nextTurns();
    await answerNext(pageAt('6:6:', 8n));
    expect(await late).toEqual([[8n], false]);
  });

  test('after a new connection, no page is expected to be up to date', async () => {
    await cache();
    pageCache.enter(undefined);
    const page = listed();
    await nextTurns();
    expect(namesSent()).toEqual(['list']);
    await answerNext(pageAt('5:5:', 4n));
    expect(await page).toEqual([[4n], false]);
  });

  test('without an exact version of the data, no page is cached', async () => {
    repository = petRepository(read, {} as Creates, pageCache, false);
    for (let times = 0; times < 3; times++) {
      const page = listed();
      await nextTurns();
      expect(sent[0]?.statement.text).toContain(', NULL FROM pets');
      await answerNext([[...rowOf(1n), null]]);
      expect(await page).toEqual([[1n], false]);
    }
    expect(pageCache.statistics).toEqual({ hits: 0, misses: 3 });
  });
});
