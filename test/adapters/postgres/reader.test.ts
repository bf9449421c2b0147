/** The order and the number of the statements of a reader, over connections that answer when a test says so. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Connections } from '../../../src/adapters/postgres/connections.ts';
import { Health } from '../../../src/adapters/postgres/health.ts';
import { Pages } from '../../../src/adapters/postgres/pages.ts';
import { Reader } from '../../../src/adapters/postgres/reader.ts';
import type { Outcome, Row, Statement } from '../../../src/adapters/postgres/statement.ts';

interface Sent {
  readonly statement: Statement;
  readonly answer: (outcome: Outcome) => void;
}

let sent: Sent[];
/** The number of connections that the server grants. */
let available: number;
let reader: Reader;
let pages: Pages;

const delay = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  sent = [];
  available = 16;
  const fake: Partial<Connections> = {
    get available() {
      return available;
    },
    waitTimeout: 1000,
    run: (statement) => new Promise((answer) => sent.push({ statement, answer })),
  };
  reader = new Reader(fake as Connections, new Health({}));
  pages = new Pages(reader, true);
  return () => {
    vi.useRealTimers();
  };
});

const rowOf = (id: bigint): Row => [id, `pet ${id}`, 1n, 'sold'];
const found = (...rows: Row[]): Outcome => ({ rows });
/** After a read that calls share, the next read waits for one turn of the event loop. */
async function nextTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

const namesSent = () => sent.map(({ statement }) => statement.name);
const idsIn = ({ statement }: Sent) => String(statement.values[0]).replace(/[{}]/g, '').split(',').length;

function answerNext(outcome: Outcome): void {
  const next = sent.shift();
  if (next === undefined) throw new Error('no statement was sent');
  next.answer(outcome);
}

/** Answers a statement that reads pets with all that it asks for. */
function answerPets(): void {
  const ids = String(sent[0]?.statement.values[0]).replace(/[{}]/g, '').split(',');
  answerNext(found(...ids.map((id) => rowOf(BigInt(id)))));
}

function findMany(count: number): Promise<unknown>[] {
  return Array.from({ length: count }, (_, index) => reader.find(BigInt(index + 1)));
}

describe('pets by their ids', () => {
  test('a call that is alone is sent at once, by itself', async () => {
    const pet = reader.find(7n);
    expect(sent.map(({ statement }) => [statement.name, statement.values])).toEqual([['find-one', [7n]]]);
    answerNext(found(rowOf(7n)));
    expect(await pet).toMatchObject({ id: 7n });
  });

  test('the free connections share the calls of a turn, four connections while statements are quick', async () => {
    const pets = findMany(1 + 240);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([1, 80, 80, 80]);
    // Further calls wait for a connection, and the next free one takes them all.
    pets.push(...findMany(5));
    await nextTurn();
    expect(sent).toHaveLength(4);
    answerPets();
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([80, 80, 80, 5]);
    while (sent.length > 0) answerPets();
    expect((await Promise.all(pets)).length).toBe(246);
  });

  test('a few calls are not divided while statements are quick', async () => {
    const pets = findMany(1 + 63);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([1, 63]);
    while (sent.length > 0) answerPets();
    await Promise.all(pets);
  });

  test('when a statement takes long, more connections are used, and those that hang hold up nothing else', async () => {
    const pets = findMany(1 + 192);
    await nextTurn();
    const stuck = sent.splice(0);
    expect(stuck).toHaveLength(4);
    const later = findMany(3);
    await nextTurn();
    expect(sent).toEqual([]);
    await delay(50);
    expect(sent.map(idsIn)).toEqual([3]);
    answerPets();
    expect(await Promise.all(later)).toHaveLength(3);
    sent.push(...stuck);
    while (sent.length > 0) answerPets();
    expect(await Promise.all(pets)).toHaveLength(193);
  });

  test('when statements are slow, each of up to 16 connections takes a share, however small', async () => {
    for (let times = 0; times < 5; times++) {
      const slow = reader.find(1n);
      await delay(20);
      answerPets();
      await slow;
    }
    const pets = findMany(1 + 30);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([1, ...Array(15).fill(2)]);
    while (sent.length > 0) answerPets();
    await Promise.all(pets);
  });

  test('a call without a definite result is sent once more, and then fails', async () => {
    const lost: Outcome = { error: new Error('Query read timeout'), isUnknown: true, isUnsent: false };
    const pet = reader.find(1n);
    answerNext(lost);
    await nextTurn();
    answerPets();
    expect(await pet).toMatchObject({ id: 1n });
    const again = reader.find(2n);
    answerNext(lost);
    await nextTurn();
    answerNext(lost);
    await expect(again).rejects.toMatchObject({ code: 'storage_unavailable', reason: 'not_responding' });
    expect(sent).toEqual([]);
  });

  test('when the server grants no further connection, the calls are sent over those that there are', async () => {
    const pets = findMany(1 + 192);
    await nextTurn();
    expect(sent).toHaveLength(4);
    const refused: Outcome = { error: new Error('too many clients'), isUnknown: false, isUnsent: true };
    available = 3;
    sent.pop()?.answer(refused);
    await nextTurn();
    expect(sent).toHaveLength(3);
    answerPets();
    await nextTurn();
    expect(sent).toHaveLength(3);
    while (sent.length > 0) {
      answerPets();
      await nextTurn();
    }
    expect(await Promise.all(pets)).toHaveLength(193);
    const alone = reader.find(9n);
    await nextTurn();
    answerNext(refused);
    await expect(alone).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('a refused statement fails at once', async () => {
    const pet = reader.find(1n);
    answerNext({ error: new Error('refused'), isUnknown: false, isUnsent: false });
    await expect(pet).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(sent).toEqual([]);
  });
});

describe('pages', () => {
  const query = { limit: 2 };
  const pageAt = (version: string, ...ids: bigint[]): Outcome =>
    found(...ids.map((id) => [...rowOf(id), version]));
  const versionOf = (version: string): Outcome => found([version]);

  async function listed(): Promise<readonly [readonly bigint[], boolean]> {
    const { pets, more } = await pages.list(query);
    return [pets.map(({ id }) => id), more];
  }

  /** Reads the page twice, so that it is expected to be up to date. */
  async function cache(): Promise<void> {
    for (let times = 0; times < 2; times++) {
      const page = listed();
      answerNext(pageAt('5:5:', 1n, 2n, 3n));
      expect(await page).toEqual([[1n, 2n], true]);
    }
  }

  test('equal queries that wait are one statement, which is sent after the one in flight', async () => {
    const first = listed();
    const others = [listed(), listed()];
    await nextTurn();
    expect(namesSent()).toEqual(['list']);
    answerNext(pageAt('5:5:', 1n));
    expect(await first).toEqual([[1n], false]);
    await nextTurns();
    expect(namesSent()).toEqual(['list']);
    answerNext(pageAt('6:6:', 1n, 2n));
    expect(await Promise.all(others)).toEqual(Array(2).fill([[1n, 2n], false]));
  });

  test('a page without pets is read each time', async () => {
    for (let times = 0; times < 3; times++) {
      const page = listed();
      answerNext(found());
      expect(await page).toEqual([[], false]);
    }
  });

  test('a cached page is returned again after an equal version, and is the same object', async () => {
    await cache();
    const lists = [pages.list(query), pages.list(query)];
    await nextTurn();
    expect(namesSent()).toEqual(['version']);
    answerNext(versionOf('5:5:'));
    await nextTurns();
    answerNext(versionOf('5:5:'));
    const [one, other] = await Promise.all(lists);
    expect(one).toBe(other);
    expect(pages.statistics).toEqual({ hits: 2, misses: 2 });
  });

  test('the version has the start of the server and the last reset of its statistics', () => {
    void listed();
    const version =
      'pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()';
    expect(sent[0]?.statement.text).toContain(version);
  });

  test('another version leads to another read', async () => {
    await cache();
    const page = listed();
    answerNext(versionOf('5:6:'));
    await nextTurn();
    expect(namesSent()).toEqual(['list']);
    answerNext(pageAt('5:6:', 9n));
    expect(await page).toEqual([[9n], false]);
  });

  test('a page from a connection that was late is not returned for a newer version', async () => {
    await cache();
    const late = listed();
    await delay(30);
    const next = listed();
    await delay(30);
    await nextTurn();
    expect(namesSent()).toEqual(['version', 'version']);
    // The second connection sees a commit that the first did not see.
    const [first] = sent.splice(0, 1);
    answerNext(versionOf('6:6:'));
    await nextTurn();
    answerNext(pageAt('6:6:', 8n));
    expect(await next).toEqual([[8n], false]);
    first?.answer(versionOf('5:5:'));
    await nextTurn();
    answerNext(pageAt('6:6:', 8n));
    expect(await late).toEqual([[8n], false]);
  });

  test('after a new connection, no page is expected to be up to date', async () => {
    await cache();
    pages.forget();
    const page = listed();
    expect(namesSent()).toEqual(['list']);
    answerNext(pageAt('5:5:', 4n));
    expect(await page).toEqual([[4n], false]);
  });
});

test('after close, waiting reads and further reads are rejected', async () => {
  const reads = findMany(30);
  reader.close();
  const results = await Promise.allSettled(reads.slice(1));
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'the storage is closed' } });
  }
  await expect(reader.find(1n)).rejects.toThrow('the storage is closed');
});
