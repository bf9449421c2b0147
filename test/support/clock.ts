/** Lets a test decide how much time passes for the server, which runs in the process of the test. */

import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';

/** The time that passes at once, in milliseconds. */
const STEP = 50;

export interface Clock {
  pass(milliseconds: number): void;
  /** Lets time pass until the promise is settled. */
  passUntil<T>(promise: Promise<T>): Promise<T>;
}

/** The longest wait, in milliseconds. */
const WAIT_LIMIT = 100_000;
/** Taken when this module is loaded, so that it is not the time of a stopped clock. */
const realTime: () => number = Date.now;

/** Waits until a condition is true, while the clock stands still. `expect.poll` would let time pass, and needs a test. */
export async function until(isTrue: () => boolean | Promise<boolean>, interval = 1): Promise<void> {
  const end = realTime() + WAIT_LIMIT;
  while (!(await isTrue())) {
    if (realTime() > end) throw new Error(`waited ${WAIT_LIMIT / 1000} s for ${isTrue}`);
    await sleep(interval);
  }
}

/**
 * Stops the clock until the end of the test. Timeouts of Node.js itself, such as those of slow requests and of sockets,
 * still expire in real time.
 */
export function stopClock(): Clock {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'hrtime'],
  });
  onTestFinished(() => void vi.useRealTimers());
  return {
    pass(milliseconds) {
      vi.advanceTimersByTime(milliseconds);
    },
    async passUntil(promise) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      promise.then(settle, settle);
      await until(() => {
        vi.advanceTimersByTime(STEP);
        return isSettled;
      });
      return promise;
    },
  };
}
