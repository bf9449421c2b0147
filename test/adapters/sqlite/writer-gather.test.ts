/** The wait for more writes after a slow commit, so that the next commit stores more of them. */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openHeld, pass } from './held-storage.ts';
import { connect, temporaryFile } from './temporary-file.ts';
import { addMany, assertStored, openWarm, outcomesOf } from './warm-storage.ts';

describe('after a slow commit', () => {
  /** Three adds with a slow commit, and three more that are queued behind it. */
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

  test('new adds share the next commit with queued ones', async () => {
    const { storage, waiting, commits } = await slowCommit();
    const added = await Promise.all([...waiting, ...addMany(storage, 3)]);
    expect(added.map(({ id }) => id)).toEqual([5n, 6n, 7n, 8n, 9n, 10n]);
    expect(commits()).toBe(2);
    await assertStored(storage, added);
  });

  test('queued adds are stored when no new add arrives', async () => {
    const { storage, waiting, commits } = await slowCommit();
    await assertStored(storage, await Promise.all(waiting));
    expect(commits()).toBe(2);
  });

  test('queued adds are stored before a close', async () => {
    const { storage, waiting } = await slowCommit();
    await storage.close();
    expect((await outcomesOf(waiting)).added).toHaveLength(3);
  });

  test('queued adds are settled when the thread exits', async () => {
    const { storage, thread, waiting } = await slowCommit();
    await thread.terminate();
    const { added, codes } = await outcomesOf(waiting);
    expect(added.length + codes.length).toBe(3);
    await assertStored(storage, added);
  });
});

describe('the wait after a commit', () => {
  /** A commit of `count` adds took `milliseconds`, and `queued` more adds are in the queue. */
  async function committed(count: number, milliseconds: number, queued: number) {
    const { storage, replies, thread } = await openHeld();
    const adds = addMany(storage, count);
    await replies.sent(1);
    await pass(milliseconds);
    adds.push(...addMany(storage, queued));
    const post = vi.spyOn(thread, 'postMessage');
    replies.deliverNext();
    return {
      sent: () => post.mock.calls.length,
      add: (more: number) => adds.push(...addMany(storage, more)),
      async finish() {
        replies.release();
        await pass(100);
        await Promise.all(adds);
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

  test('is skipped after a short commit', async () => {
    const { sent, finish } = await committed(3, 3, 2);
    expect(sent()).toBe(1);
    await finish();
  });

  test('ends when as many adds were queued as the last commit had', async () => {
    const { sent, add, finish } = await committed(3, 100, 2);
    add(2);
    expect(sent()).toBe(0);
    add(1);
    expect(sent()).toBe(1);
    await pass(25);
    expect(sent()).toBe(1);
    await finish();
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

  test('is skipped when nothing is queued', async () => {
    const { sent, add, finish } = await committed(3, 100, 0);
    await pass(25);
    expect(sent()).toBe(0);
    add(1);
    await nextTurn();
    expect(sent()).toBe(1);
    await finish();
  });
});
