/** The progress of a command on a terminal. */

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { consoleOf } from '../../../src/adapters/cli/console.ts';

afterEach(() => void vi.useRealTimers());

/** Returns what is shown on a terminal when a work of some seconds reports these steps, one in half a second. */
async function shown(steps: readonly (readonly [title: string, share?: number])[]): Promise<string> {
  vi.useFakeTimers({ now: 0 });
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
    clearScreenDown: () => true,
  });
  let text = '';
  terminal.on('data', (chunk) => {
    text += chunk;
  });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: terminal };
  const console = consoleOf(streams, new AbortController().signal);
  for (const step of steps) {
    console.progress(...step);
    await vi.advanceTimersByTimeAsync(500);
  }
  console.err('');
  expect(vi.getTimerCount()).toBe(0);
  return text;
}

test('is shown after half a second: a title, and a bar when the fraction is known', async () => {
  expect(await shown([['short']])).toBe('');
  const text = await shown([['waiting'], ['reading'], ['copying', 0.25], ['copying', 0.5]]);
  expect(text).not.toContain('waiting');
  expect(text).toMatch(
    /reading[\s\S]*copying {2}\[=+-+\] {2}25 % {2}\S+ left[\s\S]*copying {2}\[={12}-{12}\] {2}50 %/,
  );
});
