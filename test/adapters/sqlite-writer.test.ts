import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/application/ports.ts';
import { formatApiKey } from '../../src/domain/api-key.ts';
import type { AnimalStoreError } from '../../src/domain/errors.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { connect, openStorage, REX, temporaryFile } from './sqlite-file.ts';

const threads: Worker[] = [];

function remember(thread: Worker): void {
  threads.push(thread);
}

beforeEach(() => {
  threads.length = 0;
  process.on('worker', remember);
});

afterEach(() => {
  process.off('worker', remember);
});

/** A storage whose thread has started. */
async function openWarm(path?: string): Promise<{ storage: Storage; thread: Worker }> {
  const storage = openStorage(path);
  await storage.pets.add(REX);
  return { storage, thread: threads.at(-1) as Worker };
}

function addMany({ pets }: Storage, count: number): Promise<Pet>[] {
  return Array.from({ length: count }, (_, index) => pets.add({ ...REX, name: `animal ${index}` }));
}

async function outcomesOf(adds: readonly Promise<Pet>[]): Promise<{ added: Pet[]; codes: string[] }> {
  const settled = await Promise.allSettled(adds);
  return {
    added: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    codes: settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : [])),
  };
}

async function assertStored({ pets }: Storage, added: readonly Pet[]): Promise<void> {
  for (const pet of added) expect(await pets.find(pet.id)).toEqual(pet);
}

describe('when the thread dies', () => {
  test('in the middle of adds, none hangs: each is stored or says that it may not be', async () => {
    const { storage, thread } = await openWarm();
    const outcomes = outcomesOf(addMany(storage, 3000));
    await nextTurn();
    await thread.terminate();
    const { added, codes } = await outcomes;
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set(['storage_unavailable']));
    expect(added.length + codes.length).toBe(3000);
    await assertStored(storage, added);
    const next = await storage.pets.add(REX);
    for (const { id } of added) expect(id).toBeLessThan(next.id);
    await assertStored(storage, [next]);
  });

  test('again and again, every add is answered', async () => {
    const { storage } = await openWarm();
    const outcomes: ReturnType<typeof outcomesOf>[] = [];
    for (let time = 0; time < 5; time++) {
      outcomes.push(outcomesOf(addMany(storage, 50)));
      await nextTurn();
      await threads.at(-1)?.terminate();
    }
    await storage.pets.add(REX);
    const all = await Promise.all(outcomes);
    const added = all.flatMap((each) => each.added);
    const codes = all.flatMap((each) => each.codes);
    expect(added.length + codes.length).toBe(250);
    for (const code of codes) expect(code).toBe('storage_unavailable');
    expect(new Set(added.map(({ id }) => id)).size).toBe(added.length);
    await assertStored(storage, added);
  });

  test('with nothing to do, the next add does not notice', async () => {
    const { storage, thread } = await openWarm();
    await thread.terminate();
    expect((await storage.pets.add(REX)).id).toBe(2n);
    expect(threads).toHaveLength(2);
  });

  test('and cannot start again, adds are refused until it can', async () => {
    const path = temporaryFile();
    const { storage, thread } = await openWarm(path);
    await thread.terminate();
    renameSync(path, `${path}-away`);
    mkdirSync(path);
    for (let time = 0; time < 2; time++) {
      await expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
    rmdirSync(path);
    renameSync(`${path}-away`, path);
    await assertStored(storage, [await storage.pets.add(REX)]);
  });

  test('between an add and its turn, every add gets its own outcome', async () => {
    const { storage, thread } = await openWarm();
    const first = addMany(storage, 3);
    thread.emit('exit', 1);
    const second = addMany(storage, 2);
    await nextTurn();
    const third = addMany(storage, 1);
    const added = await Promise.all([...first, ...second, ...third]);
    expect(added.map(({ id }) => id)).toEqual([2n, 3n, 4n, 5n, 6n, 7n]);
    await assertStored(storage, added);
    await thread.terminate();
  });

  test('a storage can be closed', async () => {
    const { storage, thread } = await openWarm();
    const outcomes = outcomesOf(addMany(storage, 1500));
    await nextTurn();
    const closing = storage.close();
    await thread.terminate();
    await closing;
    const { added, codes } = await outcomes;
    expect(added.length + codes.length).toBe(1500);
    expect(codes.length).toBeGreaterThan(0);
  });
});

test('beyond what may wait an add is refused as overloaded, and the others are stored', async () => {
  const path = temporaryFile();
  const { storage } = await openWarm(path);
  const adds = addMany(storage, 12_000);
  const { added, codes } = await outcomesOf(adds);
  expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `animal ${index}`));
  expect(added).toHaveLength(10_000);
  expect(codes).toHaveLength(2000);
  expect(new Set(codes)).toEqual(new Set(['overloaded']));
  await assertStored(storage, added);
  await storage.pets.add(REX);
});

test('beyond what may be queued in bytes an add is refused as overloaded', async () => {
  const { storage } = await openWarm();
  const name = 'x'.repeat(1024 * 1024);
  const adds = Array.from({ length: 40 }, () => storage.pets.add({ ...REX, name }));
  const { added, codes } = await outcomesOf(adds);
  expect(added.length).toBeGreaterThanOrEqual(10);
  expect(codes.length).toBeGreaterThanOrEqual(20);
  expect(new Set(codes)).toEqual(new Set(['overloaded']));
  await storage.pets.add({ ...REX, name });
});

describe('while another process holds the lock', () => {
  interface Settled {
    readonly isAdded: boolean;
    /** Milliseconds from the call. */
    readonly ms: number;
    readonly code?: string;
    readonly message?: string;
  }

  async function timed(add: Promise<Pet>): Promise<Settled> {
    const start = performance.now();
    try {
      await add;
      return { isAdded: true, ms: performance.now() - start };
    } catch (error) {
      const { code, message } = error as AnimalStoreError;
      return { isAdded: false, ms: performance.now() - start, code, message };
    }
  }

  test('each of 3,000 adds is refused at its own deadline, and nothing of it is stored later', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const first = addMany(storage, 2500).map(timed);
    await sleep(1000);
    const second = addMany(storage, 500).map(timed);
    const settled = await Promise.all([...first, ...second]);
    for (const each of settled) {
      expect(each).toMatchObject({ isAdded: false, code: 'storage_unavailable' });
      expect(each.message).toContain('nothing was stored');
      expect(each.ms).toBeGreaterThan(4800);
      expect(each.ms).toBeLessThan(5900);
    }
    await storage.check();
    other.exec('COMMIT');
    const next = await timed(storage.pets.add(REX));
    expect(next).toMatchObject({ isAdded: true });
    expect(next.ms).toBeLessThan(500);
    expect((await storage.pets.list({ limit: 100 })).pets.map(({ id }) => id)).toEqual([1n, 2n]);
  });

  test('adds that came later than others of their batch keep their own deadline, and their order', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const early = addMany(storage, 3).map(timed);
    await sleep(50);
    const middle = addMany(storage, 3).map(timed);
    await sleep(2000);
    const late = addMany(storage, 1500);
    await sleep(3500);
    other.exec('COMMIT');
    for (const each of await Promise.all([...early, ...middle])) {
      expect(each.isAdded).toBe(false);
      expect(each.ms).toBeLessThan(5900);
    }
    const added = await Promise.all(late);
    expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `animal ${index}`));
    expect(added.map(({ id }) => id)).toEqual(added.map((_, index) => BigInt(index + 2)));
    await assertStored(storage, [added[0] as Pet, added[1499] as Pet]);
  });

  test('a storage can be closed: what was accepted is refused at its deadline', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const adds = addMany(storage, 3).map(timed);
    const start = performance.now();
    await storage.close();
    expect(performance.now() - start).toBeLessThan(5900);
    for (const each of await Promise.all(adds)) expect(each.code).toBe('storage_unavailable');
    other.exec('COMMIT');
    expect((await openStorage(path).pets.list({ limit: 5 })).pets).toHaveLength(1);
  });
});

describe('after a slow commit', () => {
  /** Three adds whose commit has taken some time, and three more that wait for it. */
  async function slowCommit() {
    const path = temporaryFile();
    const { storage, thread } = await openWarm(path);
    let commits = 0;
    thread.on('message', () => {
      commits += 1;
    });
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const first = addMany(storage, 3);
    await nextTurn();
    const waiting = addMany(storage, 3);
    await sleep(50);
    other.exec('COMMIT');
    await Promise.all(first);
    return { storage, thread, waiting, commits: () => commits };
  }

  test('callers who come back share the next one with those who waited', async () => {
    const { storage, waiting, commits } = await slowCommit();
    const added = await Promise.all([...waiting, ...addMany(storage, 3)]);
    expect(added.map(({ id }) => id)).toEqual([5n, 6n, 7n, 8n, 9n, 10n]);
    expect(commits()).toBe(2);
    await assertStored(storage, added);
  });

  test('those who waited are stored when nobody comes back', async () => {
    const { storage, waiting, commits } = await slowCommit();
    await assertStored(storage, await Promise.all(waiting));
    expect(commits()).toBe(2);
  });

  test('those who waited are stored before a close', async () => {
    const { storage, waiting } = await slowCommit();
    await storage.close();
    expect((await outcomesOf(waiting)).added).toHaveLength(3);
  });

  test('those who waited are answered when the thread dies', async () => {
    const { storage, thread, waiting } = await slowCommit();
    await thread.terminate();
    const { added, codes } = await outcomesOf(waiting);
    expect(added.length + codes.length).toBe(3);
    await assertStored(storage, added);
  });
});

describe('close', () => {
  test('finishes what was accepted', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const adds = addMany(storage, 2500);
    await storage.close();
    const added = await Promise.all(adds);
    await assertStored(openStorage(path), added);
  });

  test('finishes what was accepted before the thread had started', async () => {
    const path = temporaryFile();
    const storage = openStorage(path);
    const adds = addMany(storage, 3);
    await storage.close();
    await assertStored(openStorage(path), await Promise.all(adds));
  });

  test('can be called again, at once and later', async () => {
    const { storage } = await openWarm();
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  test('ends the thread', async () => {
    const { storage, thread } = await openWarm();
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    await storage.close();
    expect(await ended).toBe(0);
    expect(threads).toHaveLength(1);
  });

  test('is told to whoever comes later', async () => {
    const { storage } = await openWarm();
    const { pets, apiKeys } = storage;
    const key = formatApiKey(new Uint8Array(32));
    const about = { name: 'ci', hint: 'x', createdAt: 0 };
    const { id } = await apiKeys.add(key, about);
    await apiKeys.verify(key);
    await pets.list({ limit: 1 });
    const closing = storage.close();
    await expect(pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await closing;
    const calls = [
      () => pets.add(REX),
      () => pets.find(1n),
      () => pets.list({ limit: 1 }),
      () => apiKeys.verify(key),
      () => apiKeys.list(),
      () => apiKeys.add(key, about),
      () => apiKeys.addFirst(key, about),
      () => apiKeys.replace(id, 0, key, about),
      () => apiKeys.revoke(id, 0),
      () => storage.check(),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: 'the storage is closed',
      });
    }
    await nextTurn();
  });
});
