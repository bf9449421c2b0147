/** The wait for more writes after a slow commit, so that the next commit stores more of them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openHeld, pass } from '../held-storage.ts';
import { addMany } from '../warm-storage.ts';

// The storage keeps the timers of its load. Here, it uses those that the tests replace.
vi.mock(import('../../../../src/adapters/storage-kit/timers.ts'), async (original) => ({
  ...(await original()),
  startTimer: ((run: () => void, time: number) => setTimeout(run, time)) as typeof setTimeout,
  endTimer: ((timer) => clearTimeout(timer)) as typeof clearTimeout,
}));

describe('the wait after a commit', () => {
  /** A commit of `count` adds took `milliseconds`, and `queued` more adds are in the queue. */
  async function committed(count: number, milliseconds: number, queued: number) {
    const { storage, replies, thread, commits } = await openHeld();
    await pass(1000);
    const adds = addMany(storage, count);
    await replies.sent(1);
    await pass(milliseconds);
    adds.push(...addMany(storage, queued));
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

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    return () => {
      vi.useRealTimers();
    };
  });

  test.each([
    [4, 1],
    [100, 25],
    [1000, 50],
  ])('is a quarter of the commit, and 50 milliseconds at most: %i ms, %i ms', async (commit, wait) => {
    const { sent, finish } = await committed(3, commit, 2);
    await pass(wait - 1);
    expect(sent()).toBe(0);
    await pass(1);
    expect(sent()).toBe(1);
    await finish();
  });

  test('after a short commit, lasts until a turn of the event loop queues no further add', async () => {
    const { sent, add, finish } = await committed(3, 3, 2);
    for (let turn = 0; turn < 2; turn++) {
      add(1);
      expect(sent()).toBe(0);
      await nextTurn();
    }
    expect(sent()).toBe(0);
    await nextTurn();
    expect(sent()).toBe(1);
    expect((await finish()).sizes).toEqual([3, 4]);
  });

  test('ends when as many adds were queued as the last commit had', async () => {
    const { sent, add, finish } = await committed(3, 100, 2);
    add(2);
    expect(sent()).toBe(0);
    add(1);
    expect(sent()).toBe(1);
    await pass(25);
    expect(sent()).toBe(1);
    expect(await finish()).toEqual({ ids: [2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n], sizes: [3, 5] });
  });

  test('ends when a full batch is queued', async () => {
    const { sent, add, finish } = await committed(600, 100, 600);
    add(399);
    expect(sent()).toBe(0);
    add(1);
    expect(sent()).toBe(1);
    await finish();
  });

  test('is skipped when a full batch is queued', async () => {
    const { sent, finish } = await committed(3, 100, 1000);
    expect(sent()).toBe(1);
    await finish();
  });

  test('has no timer when nothing is queued', async () => {
    const { sent, add, finish } = await committed(3, 100, 0);
    await pass(25);
    expect(sent()).toBe(0);
    add(1);
    await nextTurn();
    await nextTurn();
    expect(sent()).toBe(1);
    await finish();
  });

  test('does not keep a close from storing the queued adds', async () => {
    const { storage, finish } = await committed(3, 100, 2);
    const closing = storage.close();
    expect((await finish()).sizes).toEqual([3, 2]);
    await closing;
  });

  test('ends when the thread exits, and the queued adds are stored', async () => {
    const { thread, finish } = await committed(3, 100, 2);
    await thread.terminate();
    expect((await finish()).ids).toEqual([2n, 3n, 4n, 5n, 6n]);
  });
});
