/** The writer with a thread whose replies are late, as on a disk that does not respond. The clock is under control. */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { StorageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { connect } from '../../support/sqlite.ts';
import { openHeld, pass } from './held-storage.ts';
import { REX } from './temporary-file.ts';
import { addMany, outcomesOf } from './warm-storage.ts';
import { controlClock } from './watched-storage.ts';

/** How long the writer thread may take for a batch, and how long a write may be queued, in milliseconds. */
const REPLY_TIMEOUT = 10_000;
const QUEUE_TIMEOUT = 5000;

beforeEach(controlClock);

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

/** The reply to a write that has failed. */
function failureOf(reason: StorageFaultReason) {
  return { outcomes: [{ code: 'storage_unavailable', message: 'failed', detail: '', reason }] } as const;
}

/** Opens a storage, one commit of which has failed. */
async function openFailed(reason: StorageFaultReason) {
  const held = await openHeldWith(1);
  held.replies.deliverNext(failureOf(reason));
  expect((await held.outcomes).codes).toEqual(['storage_unavailable']);
  return { ...held, post: vi.spyOn(held.thread, 'postMessage') };
}

describe('adds without a reply', () => {
  test('are rejected after 10 seconds, although they can be stored later', async () => {
    const { storage, replies, states, commits } = await openHeld();
    const add = storage.pets.add(REX);
    const rejected = expect(add).rejects.toThrow('the disk does not respond: it is unknown whether this was');
    await replies.sent(1);
    await pass(REPLY_TIMEOUT - 600);
    expect(states).toEqual([]);
    await pass(1000);
    await rejected;
    expect(states).toEqual(['not_responding']);
    replies.release();
    expect(states).toEqual(['not_responding', undefined]);
    expect(commits).toEqual([{ writes: 1, ms: expect.any(Number) }]);
    expect((await storage.pets.add(REX)).id).toBe(3n);
    expect(await idsOf(storage)).toEqual([1n, 2n, 3n]);
    await storage.check();
  });

  test('delay the adds after them, which are refused at their own deadline, and never stored', async () => {
    const { storage, replies, outcomes: first } = await openHeldWith(1);
    const second = outcomesOf(addMany(storage, 2));
    await pass(QUEUE_TIMEOUT + 600);
    expect((await second).codes).toEqual(Array(2).fill('storage_unavailable'));
    const third = outcomesOf(addMany(storage, 1));
    replies.release();
    expect((await first).added).toHaveLength(1);
    expect((await third).added).toHaveLength(1);
    expect(await idsOf(storage)).toEqual([1n, 2n, 3n]);
  });

  test('do not delay a close longer than the disk is given', async () => {
    const { storage, outcomes } = await openHeldWith(1);
    const queued = outcomesOf(addMany(storage, 1));
    const closing = storage.close();
    await pass(REPLY_TIMEOUT + 600);
    await closing;
    expect((await outcomes).codes).toEqual(['storage_unavailable']);
    expect((await queued).codes).toEqual(['storage_unavailable']);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('adds that do not get the lock are refused in time, and the next ones end the fault', async () => {
  const { storage, path, replies, states } = await openHeld();
  replies.release();
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const locked = outcomesOf(addMany(storage, 2));
  await pass(QUEUE_TIMEOUT - 100);
  expect((await locked).codes).toEqual(Array(2).fill('storage_unavailable'));
  expect(states).toEqual(['locked']);
  other.exec('COMMIT');
  expect((await storage.pets.add(REX)).id).toBe(2n);
  expect(states).toEqual(['locked', undefined]);
});

test('beyond 10,000 waiting adds, further ones are refused at once, and the others are stored', async () => {
  const { storage, replies } = await openHeld();
  const adding = addMany(storage, 10_001);
  expect(storage.statistics?.()).toMatchObject({ waitingWrites: 10_000 });
  await expect(adding.pop()).rejects.toMatchObject({ code: 'overloaded' });
  replies.release();
  expect((await Promise.all(adding)).at(-1)?.id).toBe(10_001n);
});

test('after a failed fsync, every write is refused, and nothing is tested', async () => {
  const { storage, states, post } = await openFailed('sync_failed');
  await pass(3000);
  expect((await outcomesOf(addMany(storage, 3))).codes).toEqual(Array(3).fill('storage_unavailable'));
  await expect(importPets(storage, inBatches([REX]))).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(post).not.toHaveBeenCalled();
  await expect(storage.check()).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(states).toEqual(['sync_failed']);
  expect(await idsOf(storage)).toHaveLength(2);
});

test('after another failure, a write that changes nothing does not end the fault, and a test write does', async () => {
  const { storage, replies, states, post } = await openFailed('disk_full');
  const removing = storage.idempotencyRecords.removeRecords(1);
  await replies.sent(1);
  replies.deliverNext();
  expect(await removing).toBe(0);
  post.mockClear();
  await expect(storage.check()).rejects.toMatchObject({ reason: 'disk_full' });
  await pass(1000);
  await replies.sent(1);
  expect(post).toHaveBeenCalledTimes(1);
  await pass(1000);
  expect(post).toHaveBeenCalledTimes(1);
  replies.release();
  expect(states).toEqual(['disk_full', undefined]);
  await storage.check();
});

test.each(['damaged', 'io_error'] as const)(
  'after the fault %s, which can be of one page, only a test that repeats the failed writes ends it, and stores nothing',
  async (reason) => {
    const { storage, replies, states } = await openFailed(reason);
    const adding = storage.pets.add(REX);
    await replies.sent(1);
    replies.deliverNext();
    await adding;
    for (const change of [failureOf(reason), {}]) {
      await expect(storage.check()).rejects.toMatchObject({ reason });
      vi.advanceTimersByTime(500);
      // This write does not share the fate of the repeated ones.
      const beside = storage.pets.add(REX);
      await replies.sent(1);
      replies.deliverNext(change);
      await replies.sent(1);
      replies.deliverNext();
      await beside;
    }
    replies.release();
    await expect.poll(() => states).toEqual([reason, undefined]);
    expect(await idsOf(storage)).toEqual([1n, 2n, 3n, 4n, 5n]);
  },
);

test('the failed writes are also repeated while others arrive all the time, and also if they failed late', async () => {
  const { storage, replies, states, outcomes } = await openHeldWith(1);
  await pass(REPLY_TIMEOUT + 600);
  expect((await outcomes).codes).toEqual(['storage_unavailable']);
  replies.deliverNext(failureOf('io_error'));
  const first = storage.pets.add(REX);
  await replies.sent(1);
  vi.advanceTimersByTime(500);
  const second = storage.pets.add(REX);
  replies.deliverNext();
  await first;
  expect(states).toEqual(['not_responding', 'io_error']);
  for (let batch = 0; batch < 2; batch += 1) {
    await replies.sent(1);
    replies.deliverNext();
  }
  await second;
  expect(states).toEqual(['not_responding', 'io_error', undefined]);
});

test('a close while a page is tested under load completes the waiting adds', async () => {
  const { storage, replies } = await openFailed('damaged');
  const inFlight = storage.pets.add(REX);
  await replies.sent(1);
  vi.advanceTimersByTime(500);
  const waiting = [storage.pets.add(REX), storage.pets.add(REX)];
  const closing = storage.close();
  replies.release();
  await inFlight;
  expect((await Promise.all(waiting)).map(({ id }) => id)).toEqual([4n, 5n]);
  await closing;
});
