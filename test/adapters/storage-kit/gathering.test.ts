/** When the next commit begins. The test controls the clock and the turns of the event loop. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Gathering } from '../../../src/adapters/storage-kit/gathering.ts';

/** The maximum length of a wait without a timer, in milliseconds. */
const TURNS_TIME = 3;

/** The maximum number of writes in one batch. */
const LIMIT = 1000;

function start() {
  let queued = 0;
  const sizes: number[] = [];
  const gathering: Gathering = new GatheringClass(
    LIMIT,
    () => queued,
    () => {
      gathering.end();
      sizes.push(queued);
      queued = 0;
    },
  );
  return {
    gathering,
    /** The number of writes in each commit. */
    sizes,
    add(count: number): void {
      for (let index = 0; index < count; index++) {
        queued += 1;
        gathering.added();
      }
    },
    /** Queues writes while a batch is being committed. */
    addDuringCommit(count: number): void {
      queued += count;
    },
  };
}

const nextTurn = () => vi.advanceTimersToNextTimer();

let GatheringClass: typeof Gathering;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'clearTimeout', 'performance'] });
  // The module takes its timers when it is loaded.
  vi.resetModules();
  ({ Gathering: GatheringClass } = await import('../../../src/adapters/storage-kit/gathering.ts'));
  return () => {
    vi.useRealTimers();
    vi.resetModules();
  };
});

test('the first writes are committed in the next turn', () => {
  const { sizes, add } = start();
  add(2);
  expect(sizes).toEqual([]);
  nextTurn();
  expect(sizes).toEqual([2]);
});

test('one caller after another waits for one turn', () => {
  const { gathering, sizes, add } = start();
  for (let count = 1; count <= 3; count++) {
    add(1);
    nextTurn();
    expect(sizes).toHaveLength(count);
    gathering.committed(1, 1);
    sizes.splice(count);
  }
});

describe('after the commit of 4 writes', () => {
  test('the callers of this commit get as many turns as they need', () => {
    const { gathering, sizes, add } = start();
    gathering.committed(4, 1);
    sizes.length = 0;
    for (let turn = 0; turn < 3; turn++) {
      add(1);
      nextTurn();
    }
    expect(sizes).toEqual([]);
    add(1);
    nextTurn();
    expect(sizes).toEqual([4]);
  });

  test('a turn without a write ends the wait', () => {
    const { gathering, sizes, add } = start();
    gathering.committed(4, 1);
    sizes.length = 0;
    add(2);
    nextTurn();
    expect(sizes).toEqual([]);
    nextTurn();
    expect(sizes).toEqual([2]);
  });

  test('the wait ends after 3 milliseconds', () => {
    const { gathering, sizes, add } = start();
    gathering.committed(40, 1);
    sizes.length = 0;
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    for (let ms = 0; ms < TURNS_TIME; ms++) {
      add(1);
      nextTurn();
      expect(sizes).toEqual([]);
      now += 1;
    }
    add(1);
    nextTurn();
    expect(sizes).toEqual([4]);
  });

  test('the writes that were queued meanwhile wait for those of the callers', () => {
    const { gathering, sizes, add, addDuringCommit } = start();
    addDuringCommit(2);
    gathering.committed(4, 1);
    add(3);
    nextTurn();
    expect(sizes).toEqual([]);
    add(1);
    nextTurn();
    expect(sizes).toEqual([6]);
  });

  test('nothing waits when nothing is queued', () => {
    const { gathering, sizes } = start();
    gathering.committed(4, 100);
    expect([sizes, vi.getTimerCount()]).toEqual([[0], 0]);
  });

  test('a full batch does not wait', () => {
    const { gathering, sizes, addDuringCommit } = start();
    addDuringCommit(LIMIT);
    gathering.committed(4, 100);
    expect(sizes).toEqual([LIMIT]);
  });

  test('a wait is never longer than 50 milliseconds', () => {
    const { gathering, sizes, addDuringCommit } = start();
    addDuringCommit(1);
    gathering.committed(4, 1000);
    vi.advanceTimersByTime(49);
    expect(sizes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sizes).toEqual([1]);
  });

  test('a slow commit sets a timer of a quarter of its time, and the last expected write ends it', () => {
    const { gathering, sizes, add, addDuringCommit } = start();
    addDuringCommit(1);
    gathering.committed(4, 100);
    vi.advanceTimersByTime(24);
    expect(sizes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sizes).toEqual([1]);
    addDuringCommit(1);
    gathering.committed(4, 100);
    add(3);
    expect(sizes).toEqual([1]);
    add(1);
    expect(sizes).toEqual([1, 5]);
    vi.advanceTimersByTime(100);
    expect(sizes).toEqual([1, 5]);
  });
});

test('a wait that was ended begins no commit', () => {
  const { gathering, sizes, add } = start();
  add(1);
  gathering.end();
  nextTurn();
  expect(sizes).toEqual([]);
});
