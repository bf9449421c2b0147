/** The order and the number of the statements of a reader, over connections that answer when a test says so. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import type { Outcome, Row, Statement } from '../../../src/adapters/postgres/connections.ts';
import { Connections } from '../../../src/adapters/postgres/connections.ts';
import { groupedCreates } from '../../../src/adapters/postgres/creates.ts';
import type { Faults } from '../../../src/adapters/postgres/errors.ts';
import { petRepository } from '../../../src/adapters/postgres/pet-repository.ts';
import { newReader, READS_DISK, type Reader } from '../../../src/adapters/postgres/reader.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import type { PetRepository } from '../../../src/application/ports/pet-repository.ts';

interface Sent {
  readonly statement: Statement;
  readonly answer: (outcome: Outcome) => void;
}

let sent: Sent[];
/** The number of connections that the server grants. */
let available: number;
let faults: Faults;
let reader: Reader;
let pageCache: PageCache;
let repository: PetRepository;

/** What the server answers when it is asked whether it reads from its disk, and how often it was asked. */
let onAsk: Outcome;
let asked: number;

const delay = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onAsk = found([false]);
  asked = 0;
  sent = [];
  available = 16;
  const fake: Partial<Connections> = {
    get available() {
      return available;
    },
    newQueue: Connections.prototype.newQueue,
    waitTimeout: 1000,
    async run(statement) {
      if (statement !== READS_DISK) return await new Promise((answer) => sent.push({ statement, answer }));
      asked += 1;
      return onAsk;
    },
  };
  faults = new KnownFaults<'read' | 'write'>(['read', 'write'], {});
  const creates = groupedCreates(fake as Connections, faults, {});
  reader = newReader(fake as Connections, faults);
  pageCache = new PageCache();
  repository = petRepository(reader, creates, pageCache, true);
  return () => {
    vi.useRealTimers();
  };
});

const rowOf = (id: bigint): Row => [id, `pet ${id}`, 1n, 'sold'];
const found = (...rows: Row[]): Outcome => ({ rows });
/** Reads are sent at the end of a turn of the event loop, and their results can cause further reads. */
async function nextTurns(): Promise<void> {
  for (let turns = 0; turns < 6; turns++) await nextTurn();
}

const namesSent = () => sent.map(({ statement }) => statement.name);
const idsIn = ({ statement }: Sent) => String(statement.values?.[0]).replace(/[{}]/g, '').split(',').length;

async function answerNext(outcome: Outcome): Promise<void> {
  if (sent.length === 0) await nextTurns();
  const next = sent.shift();
  if (next === undefined) throw new Error('no statement was sent');
  next.answer(outcome);
}

/** Answers a statement that reads pets with all that it asks for. */
async function answerPets(): Promise<void> {
  if (sent.length === 0) await nextTurns();
  const ids = String(sent[0]?.statement.values?.[0]).replace(/[{}]/g, '').split(',');
  await answerNext(found(...ids.map((id) => rowOf(BigInt(id)))));
}

function findMany(count: number): Promise<unknown>[] {
  return Array.from({ length: count }, (_, index) => repository.find(BigInt(index + 1)));
}

/** Reads pets, and returns how many of them each statement asks for. */
async function sharesOf(count: number): Promise<number[]> {
  const pets = findMany(count);
  await nextTurn();
  const shares = sent.map(idsIn);
  while (sent.length > 0) await answerPets();
  await Promise.all(pets);
  return shares;
}

describe('pets by their ids', () => {
  test('a call that is alone is sent by itself', async () => {
    const pet = repository.find(7n);
    await nextTurn();
    expect(sent.map(({ statement }) => [statement.name, statement.values])).toEqual([['find-one', [7n]]]);
    await answerNext(found(rowOf(7n)));
    expect(await pet).toMatchObject({ id: 7n });
  });

  test('calls that wait are shared by two statements, and later ones wait for the next', async () => {
    const pets = findMany(240);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([120, 120]);
    pets.push(...findMany(5));
    await nextTurn();
    expect(sent).toHaveLength(2);
    await answerPets();
    await nextTurns();
    expect(sent.map(idsIn)).toEqual([120, 5]);
    while (sent.length > 0) await answerPets();
    expect(await Promise.all(pets)).toHaveLength(245);
  });

  test('a second call does not wait for the first', async () => {
    const pets = findMany(1);
    await nextTurn();
    pets.push(...findMany(1));
    await nextTurn();
    expect(namesSent()).toEqual(['find-one', 'find-one']);
    while (sent.length > 0) await answerPets();
    expect(await Promise.all(pets)).toHaveLength(2);
  });

  test('calls that wait share the next statement with those that the responses cause', async () => {
    const first = findMany(10);
    await nextTurn();
    const waiting = findMany(4);
    const more = first.map((pet) => pet.then(() => repository.find(1n)));
    while (sent.length > 0) await answerPets();
    await nextTurns();
    expect(sent.map(idsIn)).toEqual([7, 7]);
    while (sent.length > 0) await answerPets();
    await Promise.all([...waiting, ...more]);
  });

  test('when a statement takes long, more connections are used, and one that hangs holds up nothing else', async () => {
    const hanging = findMany(192);
    await nextTurn();
    const stuck = sent.splice(0);
    expect(stuck).toHaveLength(2);
    const later = findMany(28);
    await nextTurn();
    expect(sent).toEqual([]);
    await delay(50);
    await nextTurn();
    expect(sent.map(idsIn)).toEqual([28]);
    while (sent.length > 0) await answerPets();
    expect(await Promise.all(later)).toHaveLength(28);
    sent.push(...stuck);
    while (sent.length > 0) await answerPets();
    expect(await Promise.all(hanging)).toHaveLength(192);
  });

  test('while the server reads from its disk, each of up to 16 connections takes a share, however small', async () => {
    onAsk = found([true]);
    expect(await sharesOf(31)).toEqual([16, 15]);
    expect(await sharesOf(31)).toEqual([...Array(15).fill(2), 1]);
    onAsk = found([false]);
    expect(await sharesOf(31)).toEqual([...Array(15).fill(2), 1]);
    await delay(500);
    await sharesOf(31);
    expect(await sharesOf(31)).toEqual([16, 15]);
  });

  test('the server is asked at most twice a second, and not about a single statement', async () => {
    for (let count = 0; count < 3; count++) await sharesOf(1);
    expect(asked).toBe(0);
    for (let count = 0; count < 3; count++) await sharesOf(2);
    expect(asked).toBe(1);
    await delay(500);
    await sharesOf(2);
    expect(asked).toBe(2);
  });

  test('a server that does not say whether it reads from its disk gets few statements at a time', async () => {
    onAsk = { error: new Error('permission denied'), isUnknown: false, isUnsent: false };
    for (let count = 0; count < 2; count++) expect(await sharesOf(31)).toEqual([16, 15]);
    expect(faults.of('read')).toBeUndefined();
  });

  test('lists use four connections, and more while the server reads from its disk', async () => {
    const inFlightOf = async (count: number) => {
      const reads = Array.from({ length: count }, () => reader.query(() => ({ text: 'SELECT' })));
      await nextTurns();
      const { length } = sent;
      while (sent.length > 0) {
        await answerNext(found());
        await nextTurns();
      }
      await Promise.all(reads);
      return length;
    };
    expect(await inFlightOf(20)).toBe(4);
    onAsk = found([true]);
    await delay(500);
    await inFlightOf(20);
    expect(await inFlightOf(20)).toBe(16);
  });

  test('a call without a definite result is sent once more, and then fails', async () => {
    const lost: Outcome = { error: new Error('Query read timeout'), isUnknown: true, isUnsent: false };
    const pet = repository.find(1n);
    await answerNext(lost);
    await nextTurn();
    await answerPets();
    expect(await pet).toMatchObject({ id: 1n });
    const again = repository.find(2n);
    await answerNext(lost);
    await nextTurn();
    await answerNext(lost);
    await expect(again).rejects.toMatchObject({ code: 'storage_unavailable', reason: 'not_responding' });
    expect(sent).toEqual([]);
  });

  test('when the server grants no further connection, the calls are sent over those that there are', async () => {
    const read = (id: number) => reader.query(() => ({ text: 'SELECT', values: [id] }));
    const reads = Array.from({ length: 6 }, (_, index) => read(index));
    await nextTurn();
    expect(sent).toHaveLength(4);
    const refused: Outcome = { error: new Error('too many clients'), isUnknown: false, isUnsent: true };
    available = 3;
    sent.pop()?.answer(refused);
    await nextTurns();
    expect(sent).toHaveLength(3);
    while (sent.length > 0) {
      expect(sent.length).toBeLessThanOrEqual(3);
      await answerNext(found());
      await nextTurn();
    }
    expect(await Promise.all(reads)).toHaveLength(6);
    const alone = repository.find(9n);
    await nextTurn();
    await answerNext(refused);
    await expect(alone).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('a refused statement fails at once', async () => {
    const pet = repository.find(1n);
    await answerNext({ error: new Error('refused'), isUnknown: false, isUnsent: false });
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
      await answerNext(found());
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

  test('the version is asked for by one statement at a time, also while the server reads from its disk', async () => {
    onAsk = found([true]);
    await sharesOf(31);
    await cache();
    const lists = [listed(), listed()];
    await nextTurns();
    lists.push(listed(), listed());
    await nextTurns();
    expect(namesSent()).toEqual(['version']);
    await answerNext(versionOf('5:5:'));
    await nextTurns();
    expect(namesSent()).toEqual(['version']);
    await answerNext(versionOf('5:5:'));
    expect(await Promise.all(lists)).toEqual(Array(4).fill([[1n, 2n], true]));
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
});

test('after close, waiting reads and further reads are rejected', async () => {
  const connections = new Connections(clientConfig('postgres://127.0.0.1:1/absent'), { max: 4 });
  reader = newReader(connections, faults);
  const read = () => reader.query(() => ({ text: 'SELECT' }));
  const reads = Array.from({ length: 30 }, read);
  await connections.close();
  const results = await Promise.allSettled(reads);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'the storage is closed' } });
  }
  await expect(read()).rejects.toThrow('the storage is closed');
});
