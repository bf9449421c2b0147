/** The writer with a thread whose replies are late, as on a disk that does not respond. The clock is under control. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Storage } from '../../../../src/application/ports/storage.ts';
import type { StorageFaultReason } from '../../../../src/application/ports/storage-fault.ts';
import { connect } from '../../../support/sqlite.ts';
import { openHeld, pass } from '../held-storage.ts';
import { openStorage, REX } from '../temporary-file.ts';
import { addMany, outcomesOf, startedThreads } from '../warm-storage.ts';
import { controlClock } from '../watched-storage.ts';

/** How long the writer thread may take for a task, and how long a write may be queued, in milliseconds. */
const TASK_TIMEOUT = 10_000;
const QUEUE_TIMEOUT = 5000;

beforeEach(controlClock);

/** Returns a function that says whether a promise is settled. */
function watch(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return () => isSettled;
}

async function idsOf({ pets }: Storage): Promise<bigint[]> {
  return (await pets.list({ limit: 100 })).pets.map(({ id }) => id);
}

/** A storage whose first adds have been sent to the thread, and whose replies are held back. */
async function openHeldWith(adds: number) {
  const held = await openHeld();
  const outcomes = outcomesOf(addMany(held.storage, adds));
  await held.replies.sent(1);
  return { ...held, outcomes };
}

describe('adds without a reply', () => {
  test('are rejected after 10 seconds, although they can be stored later', async () => {
    const { storage, replies, states, commits } = await openHeld();
    await pass(TASK_TIMEOUT / 2);
    const outcomes = outcomesOf(addMany(storage, 3));
    const isSettled = watch(outcomes);
    await replies.sent(1);
    await pass(TASK_TIMEOUT - 1);
    expect(isSettled()).toBe(false);
    expect(states).toEqual([]);
    await pass(1);
    expect((await outcomes).codes).toEqual(Array(3).fill('storage_unavailable'));
    expect(states).toEqual(['not_responding']);
    replies.release();
    expect(states).toEqual(['not_responding', undefined]);
    expect(commits).toEqual([{ writes: 3, ms: expect.any(Number) }]);
    expect((await storage.pets.add(REX)).id).toBe(5n);
    expect(await idsOf(storage)).toEqual([1n, 2n, 3n, 4n, 5n]);
    await storage.check();
  });

  test('are rejected after 10 seconds also when the thread does not start', async () => {
    const states: unknown[] = [];
    const storage = openStorage(undefined, {
      observer: { onStorageState: (fault) => states.push(fault?.reason) },
    });
    process.once('worker', (worker) => worker.removeAllListeners('message'));
    const sent = outcomesOf(addMany(storage, 1));
    await nextTurn();
    const queued = outcomesOf(addMany(storage, 1));
    await pass(QUEUE_TIMEOUT);
    expect((await queued).codes).toEqual(['storage_unavailable']);
    await pass(TASK_TIMEOUT - QUEUE_TIMEOUT);
    expect((await sent).codes).toEqual(['storage_unavailable']);
    expect(states).toEqual(['not_responding']);
  });

  test('say that it is unknown whether they were stored', async () => {
    const { storage, replies } = await openHeld();
    const add = storage.pets.add(REX);
    const rejected = expect(add).rejects.toThrow('it is unknown whether this was stored');
    await replies.sent(1);
    await pass(TASK_TIMEOUT);
    await rejected;
  });

  test('delay the adds after them, which are refused at their own deadline', async () => {
    const { storage, replies, outcomes: first } = await openHeldWith(1);
    await pass(TASK_TIMEOUT);
    await first;
    const second = outcomesOf(addMany(storage, 2));
    await pass(QUEUE_TIMEOUT);
    expect((await second).codes).toHaveLength(2);
    const third = outcomesOf(addMany(storage, 1));
    replies.release();
    await pass(100);
    expect((await third).added).toHaveLength(1);
    expect(await idsOf(storage)).toEqual([1n, 2n, 3n]);
  });

  test('are not stored when their late reply says that another process held the lock', async () => {
    const { storage, path, replies } = await openHeld();
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const outcomes = outcomesOf(addMany(storage, 2));
    await replies.sent(1);
    await pass(TASK_TIMEOUT);
    expect((await outcomes).codes).toHaveLength(2);
    other.exec('ROLLBACK');
    replies.release();
    expect((await storage.pets.add(REX)).id).toBe(2n);
    expect(await idsOf(storage)).toEqual([1n, 2n]);
  });

  test('have 10 seconds from the reply to the task before them', async () => {
    const { storage, replies, states } = await openHeld();
    const check = storage.check();
    const outcomes = outcomesOf(addMany(storage, 1));
    await replies.sent(2);
    await pass(TASK_TIMEOUT - 1000);
    replies.deliverNext();
    await check;
    await pass(TASK_TIMEOUT - 1);
    expect(states).toEqual([]);
    await pass(1);
    expect(states).toEqual(['not_responding']);
    expect((await outcomes).codes).toHaveLength(1);
  });
});

describe('adds while another process holds the lock', () => {
  async function openLocked() {
    const held = await openHeld();
    const other = connect(held.path);
    other.exec('BEGIN IMMEDIATE');
    return { ...held, unlock: () => other.exec('ROLLBACK') };
  }

  test('are sent again until they are stored, before later adds', async () => {
    const { storage, replies, unlock, commits, states } = await openLocked();
    const first = addMany(storage, 2);
    await replies.sent(1);
    const second = addMany(storage, 2);
    replies.deliverNext();
    await replies.sent(1);
    unlock();
    replies.release();
    const added = await Promise.all([...first, ...second]);
    expect(added.map(({ id }) => id)).toEqual([2n, 3n, 4n, 5n]);
    expect(commits).toEqual([{ writes: 4, ms: expect.any(Number) }]);
    expect(states).toEqual([]);
  });

  test('are refused 5 seconds after they were queued, and are never stored', async () => {
    const { storage, replies, unlock } = await openLocked();
    const first = expect(storage.pets.add(REX)).rejects.toThrow('nothing was stored');
    await replies.sent(1);
    await pass(1000);
    const second = outcomesOf(addMany(storage, 1));
    await pass(QUEUE_TIMEOUT - 1000);
    replies.deliverNext();
    await first;
    await replies.sent(1);
    unlock();
    replies.release();
    expect((await second).added).toHaveLength(1);
    expect(await idsOf(storage)).toEqual([1n, 2n]);
  });

  test('wait for the lock for 100 milliseconds, but not longer than until their deadline', async () => {
    const { storage, replies, thread } = await openLocked();
    const post = vi.spyOn(thread, 'postMessage');
    const outcomes = outcomesOf(addMany(storage, 1));
    for (const milliseconds of [QUEUE_TIMEOUT - 100, 50, 50]) {
      await replies.sent(1);
      await pass(milliseconds);
      replies.deliverNext();
    }
    expect((await outcomes).codes).toHaveLength(1);
    expect(post.mock.calls.map(([task]) => task.lockTimeout)).toEqual([100, 100, 50]);
  });

  test('are a fault of the storage once one was refused, until a test of writing succeeds', async () => {
    const { storage, replies, unlock, states } = await openLocked();
    const outcomes = outcomesOf(addMany(storage, 1));
    await replies.sent(1);
    replies.deliverNext();
    await replies.sent(1);
    await pass(QUEUE_TIMEOUT);
    expect(states).toEqual([]);
    replies.deliverNext();
    expect((await outcomes).codes).toEqual(['storage_unavailable']);
    expect(states).toEqual(['locked']);
    const check = expect(storage.check()).rejects.toMatchObject({ reason: 'locked' });
    await replies.sent(1);
    replies.deliverNext();
    await check;
    unlock();
    await pass(500);
    const next = storage.check();
    await replies.sent(1);
    replies.deliverNext();
    await next;
    expect(states).toEqual(['locked', undefined]);
  });

  test('are refused at their deadline during a close', async () => {
    const { storage, replies } = await openLocked();
    const outcomes = outcomesOf(addMany(storage, 2));
    await replies.sent(1);
    const closing = storage.close();
    await pass(QUEUE_TIMEOUT);
    replies.deliverNext();
    expect((await outcomes).codes).toHaveLength(2);
    await closing;
  });
});

test('an idle thread is never late', async () => {
  const { replies, states, outcomes } = await openHeldWith(1);
  replies.release();
  await outcomes;
  await pass(3 * TASK_TIMEOUT);
  expect(states).toEqual([]);
});

describe('close', () => {
  test('does not wait for a thread that was late before', async () => {
    const { storage, outcomes } = await openHeldWith(1);
    await pass(TASK_TIMEOUT);
    await outcomes;
    const queued = outcomesOf(addMany(storage, 1));
    await storage.close();
    expect((await queued).codes).toEqual(['storage_unavailable']);
  });

  test('stops waiting when the thread is late', async () => {
    const { storage, outcomes } = await openHeldWith(1);
    const closing = storage.close();
    const isClosed = watch(closing);
    await pass(TASK_TIMEOUT - 1);
    expect(isClosed()).toBe(false);
    await pass(1);
    await closing;
    expect((await outcomes).codes).toEqual(['storage_unavailable']);
  });

  test('ends a check that waits for the thread', async () => {
    const { storage, replies } = await openHeld();
    const check = storage.check();
    const isSettled = watch(check);
    await replies.sent(1);
    await pass(0);
    expect(isSettled()).toBe(false);
    await storage.close();
    expect(await check).toBeUndefined();
  });

  test('waits 10 seconds at most until the thread exits', async () => {
    const { storage, thread } = await openHeld();
    const post = vi.spyOn(thread, 'postMessage').mockImplementation(() => {});
    const ref = vi.spyOn(thread, 'ref');
    const unref = vi.spyOn(thread, 'unref');
    const closing = storage.close();
    const isClosed = watch(closing);
    await pass(TASK_TIMEOUT - 1);
    expect(post).toHaveBeenCalledWith('close');
    expect(isClosed()).toBe(false);
    expect(ref).toHaveBeenCalledTimes(1);
    expect(unref).not.toHaveBeenCalled();
    await pass(1);
    await closing;
    expect(unref).toHaveBeenCalledTimes(1);
    await thread.terminate();
  });

  test('leaves no timer', async () => {
    const { storage, replies } = await openHeld();
    const check = storage.check();
    await replies.sent(1);
    replies.release();
    await check;
    await storage.close();
    await pass(QUEUE_TIMEOUT);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a check waits for 1 second, and is rejected at once when the thread is known to be late', async () => {
  const { storage, replies, states } = await openHeld();
  const check = storage.check();
  const isSettled = watch(check);
  await replies.sent(1);
  await pass(999);
  expect(isSettled()).toBe(false);
  await pass(1);
  await check;
  await pass(TASK_TIMEOUT - 1000);
  expect(states).toEqual(['not_responding']);
  await expect(storage.check()).rejects.toMatchObject({ reason: 'not_responding' });
  replies.release();
  await storage.check();
});

describe('when the thread exits', () => {
  test('a check that waits for it ends at once, and the next check starts a thread', async () => {
    const { storage, replies, thread } = await openHeld();
    const check = storage.check();
    await replies.sent(1);
    await thread.terminate();
    await check;
    const started = startedThreads();
    await pass(600);
    await storage.check();
    expect(started).toHaveLength(1);
  });

  test('its later reply is ignored, and the thread that replaces it is used', async () => {
    const { storage, replies, thread, commits } = await openHeld();
    const started = startedThreads();
    const first = outcomesOf(addMany(storage, 1));
    await replies.sent(1);
    thread.emit('error', new Error('out of memory'));
    expect((await first).codes).toEqual(['storage_unavailable']);
    const next = storage.pets.add(REX);
    await nextTurn();
    replies.deliverNext();
    expect((await next).id).toBe(3n);
    expect(commits).toEqual([{ writes: 1, ms: expect.any(Number) }]);
    await thread.terminate();
    expect((await storage.pets.add(REX)).id).toBe(4n);
    expect(started).toHaveLength(1);
  });

  test('its fault has ended', async () => {
    const { storage, thread, states, outcomes } = await openHeldWith(1);
    await pass(TASK_TIMEOUT);
    await outcomes;
    expect(states).toEqual(['not_responding']);
    await thread.terminate();
    expect(states).toEqual(['not_responding', undefined]);
    await storage.check();
  });
});

test('concurrent checks share one test of the storage', async () => {
  const { storage, replies, thread } = await openHeld();
  const post = vi.spyOn(thread, 'postMessage');
  const checks = [storage.check(), storage.check()];
  await pass(600);
  checks.push(storage.check());
  await replies.sent(1);
  expect(post).toHaveBeenCalledTimes(1);
  replies.release();
  await Promise.all(checks);
  await pass(600);
  await storage.check();
  expect(post).toHaveBeenCalledTimes(2);
});

/** A storage of which a commit has failed, and the tasks that its thread gets from now on. */
async function openFailed(reason: StorageFaultReason) {
  const { outcomes, ...held } = await openHeldWith(1);
  const failure = { code: 'storage_unavailable', message: 'failed', detail: '', reason } as const;
  held.replies.deliverNext({ outcomes: [failure], transaction: undefined });
  await outcomes;
  return { ...held, post: vi.spyOn(held.thread, 'postMessage') };
}

test('after a failed fsync, every write is refused, and checks do not write', async () => {
  const { storage, replies, states, post } = await openFailed('sync_failed');
  expect(states).toEqual(['sync_failed']);
  expect((await outcomesOf(addMany(storage, 3))).codes).toEqual(Array(3).fill('storage_unavailable'));
  expect(post).not.toHaveBeenCalled();
  const check = expect(storage.check()).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(post.mock.calls).toEqual([[{ tryWrite: false }]]);
  await replies.sent(1);
  replies.deliverNext();
  await check;
});

test('after another failure of a commit, checks write as a test, until a write succeeds', async () => {
  const { storage, replies, states, post } = await openFailed('disk_full');
  const check = storage.check();
  expect(post.mock.calls).toEqual([[{ tryWrite: true }]]);
  await replies.sent(1);
  replies.deliverNext();
  await check;
  expect(states).toEqual(['disk_full', undefined]);
  await pass(600);
  const next = storage.check();
  expect(post.mock.calls[1]).toEqual([{ tryWrite: false }]);
  replies.release();
  await next;
});
