/** The order and the number of the statements of a reader, over connections that answer when a test says so. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Connections } from '../../../src/adapters/postgres/connections.ts';
import { Health } from '../../../src/adapters/postgres/health.ts';
import { Pages } from '../../../src/adapters/postgres/pages.ts';
import { PETS } from '../../../src/adapters/postgres/pets.ts';
import { Reader } from '../../../src/adapters/postgres/reader.ts';
import type { Outcome, Row, Statement } from '../../../src/adapters/postgres/statement.ts';
import type { Pet } from '../../../src/domain/pet.ts';

interface Sent {
  readonly statement: Statement;
  readonly answer: (outcome: Outcome) => void;
}

let sent: Sent[];
/** The number of connections that the server grants. */
let available: number;
let reader: Reader;
let find: (id: bigint) => Promise<Pet | undefined>;
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
    newQueue: Connections.prototype.newQueue,
    waitTimeout: 1000,
    run: (statement) => new Promise((answer) => sent.push({ statement, answer })),
  };
  reader = new Reader(fake as Connections, new Health({}));
  find = reader.readsOf(PETS);
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
  return Array.from({ length: count }, (_, index) => find(BigInt(index + 1)));
}

/** Makes several calls share a statement, so that the next calls wait for the end of their turn. */
async function shareOne(): Promise<void> {
  const pets = findMany(3);
  await nextTurn();
  while (sent.length > 0) answerPets();
  await Promise.all(pets);
}

describe('pets by their ids', () => {
  test('a call that is alone is sent at once, by itself', async () => {
    const pet = find(7n);
    expect(sent.map(({ statement }) => [statement.name, statement.values])).toEqual([['find-one', [7n]]]);
    answerNext(found(rowOf(7n)));
    expect(await pet).toMatchObject({ id: 7n });
  });

  test('while statements are quick, two of them share the calls of a turn', async () => {
    const pets = findMany(1 + 240);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([1, 240]);
    pets.push(...findMany(5));
    await nextTurn();
    expect(sent).toHaveLength(2);
    answerPets();
    await nextTurns();
    expect(sent.map(idsIn)).toEqual([240, 5]);
    while (sent.length > 0) answerPets();
    await Promise.all(pets);
    pets.push(...findMany(30));
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([15, 15]);
    while (sent.length > 0) answerPets();
    expect((await Promise.all(pets)).length).toBe(276);
  });

  test('calls that follow a shared statement in the same turn share the next one', async () => {
    await shareOne();
    const first = findMany(10);
    await nextTurn();
    // These calls wait, and are sent with those that the responses cause.
    const waiting = findMany(4);
    const more = first.map((pet) => pet.then(() => find(1n)));
    while (sent.length > 0) answerPets();
    await nextTurns();
    expect(sent.map(idsIn)).toEqual([7, 7]);
    while (sent.length > 0) answerPets();
    await Promise.all([...waiting, ...more]);
  });

  test('when a statement takes long, more connections are used, and one that hangs holds up nothing else', async () => {
    const hanging = findMany(1 + 192);
    await nextTurn();
    const stuck = sent.splice(0);
    expect(stuck).toHaveLength(2);
    const later = findMany(28);
    await nextTurn();
    expect(sent).toEqual([]);
    await delay(50);
    expect(sent.map(idsIn)).toEqual(Array(14).fill(2));
    while (sent.length > 0) answerPets();
    expect(await Promise.all(later)).toHaveLength(28);
    sent.push(...stuck);
    while (sent.length > 0) answerPets();
    expect(await Promise.all(hanging)).toHaveLength(193);
  });

  test('when statements are slow, each of up to 16 connections takes a share, however small', async () => {
    for (let times = 0; times < 5; times++) {
      const slow = find(1n);
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

  test('lists use four connections, and more when they take longer than those of a busy processor', async () => {
    const read = () => reader.query({ text: 'SELECT', values: [] });
    const inFlightAfter = async (milliseconds: number) => {
      for (let times = 0; times < 30; times++) {
        const one = read();
        await delay(milliseconds);
        answerNext(found());
        await one;
      }
      const reads = Array.from({ length: 20 }, read);
      const count = sent.length;
      while (sent.length > 0) {
        answerNext(found());
        await nextTurn();
      }
      await Promise.all(reads);
      return count;
    };
    expect(await inFlightAfter(3)).toBe(4);
    expect(await inFlightAfter(10)).toBe(16);
  });

  test('a call without a definite result is sent once more, and then fails', async () => {
    const lost: Outcome = { error: new Error('Query read timeout'), isUnknown: true, isUnsent: false };
    const pet = find(1n);
    answerNext(lost);
    await nextTurn();
    answerPets();
    expect(await pet).toMatchObject({ id: 1n });
    const again = find(2n);
    answerNext(lost);
    await nextTurn();
    answerNext(lost);
    await expect(again).rejects.toMatchObject({ code: 'storage_unavailable', reason: 'not_responding' });
    expect(sent).toEqual([]);
  });

  test('when the server grants no further connection, the calls are sent over those that there are', async () => {
    const read = (id: number) => reader.query({ text: 'SELECT', values: [id] });
    const reads = Array.from({ length: 6 }, (_, index) => read(index));
    expect(sent).toHaveLength(4);
    const refused: Outcome = { error: new Error('too many clients'), isUnknown: false, isUnsent: true };
    available = 3;
    sent.pop()?.answer(refused);
    await nextTurn();
    expect(sent).toHaveLength(3);
    while (sent.length > 0) {
      expect(sent.length).toBeLessThanOrEqual(3);
      answerNext(found());
      await nextTurn();
    }
    expect(await Promise.all(reads)).toHaveLength(6);
    const alone = find(9n);
    await nextTurn();
    answerNext(refused);
    await expect(alone).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('a refused statement fails at once', async () => {
    const pet = find(1n);
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
  await expect(find(1n)).rejects.toThrow('the storage is closed');
});
