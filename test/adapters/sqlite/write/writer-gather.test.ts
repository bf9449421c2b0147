/** The wait for more writes after a slow commit, so that the next commit stores more of them. */

import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { openHeld, pass } from '../held-storage.ts';
import { addMany } from '../warm-storage.ts';
import { controlClock } from '../watched-storage.ts';

// The storage keeps the timers of its load. Here, it uses those that the tests replace. The files of a mutation run share
// a process, where another file has loaded the storage before.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock(import('../../../../src/adapters/storage-kit/timers.ts'), async (original) => ({
  ...(await original()),
  startTimer: ((run: () => void, time: number) => setTimeout(run, time)) as typeof setTimeout,
  endTimer: ((timer) => clearTimeout(timer)) as typeof clearTimeout,
}));

beforeEach(controlClock);

/** A commit of 3 adds took 100 milliseconds, and 2 more adds are in the queue. */
async function committed() {
  const { storage, replies, thread, commits } = await openHeld();
  await pass(1000);
  const adds = addMany(storage, 3);
  await replies.sent(1);
  await pass(100);
  adds.push(...addMany(storage, 2));
  const post = vi.spyOn(thread, 'postMessage');
  replies.deliverNext();
  return {
    storage,
    thread,
    sent: () => post.mock.calls.length,
    add: (more: number) => adds.push(...addMany(storage, more)),
    async finish() {
      replies.release();
      await pass(100);
      const ids = (await Promise.all(adds)).map(({ id }) => id);
      return { ids, sizes: commits.map(({ writes }) => writes) };
    },
  };
}

test('ends when as many adds were queued as the last commit had', async () => {
  const { sent, add, finish } = await committed();
  add(2);
  expect(sent()).toBe(0);
  add(1);
  expect(sent()).toBe(1);
  await pass(25);
  expect(sent()).toBe(1);
  expect(await finish()).toEqual({ ids: [2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n], sizes: [3, 5] });
});

test('does not keep a close from storing the queued adds', async () => {
  const { storage, finish } = await committed();
  const closing = storage.close();
  expect((await finish()).sizes).toEqual([3, 2]);
  await closing;
});

test('ends when the thread exits, and the queued adds are stored', async () => {
  const { thread, finish } = await committed();
  await thread.terminate();
  expect((await finish()).ids).toEqual([2n, 3n, 4n, 5n, 6n]);
});
