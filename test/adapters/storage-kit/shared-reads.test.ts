import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { SharedReads } from '../../../src/adapters/storage-kit/shared-reads.ts';

let shared: SharedReads<string>;
/** The reads that have begun and not ended. */
let running: PromiseWithResolvers<string>[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  shared = new SharedReads();
  running = [];
  return () => void vi.useRealTimers();
});

function share(key = 'a'): Promise<string> {
  return shared.share(key, () => {
    const read = Promise.withResolvers<string>();
    running.push(read);
    return read.promise;
  });
}

/** A read is sent in the next turn of the event loop. */
async function nextTurn(): Promise<void> {
  await turn();
  await turn();
}

test('calls of one turn share a read, which begins at its end, and is not that of another key', async () => {
  const calls = [share(), share()];
  expect(running).toHaveLength(0);
  await nextTurn();
  expect(running).toHaveLength(1);
  const other = share('b');
  await nextTurn();
  expect(running).toHaveLength(2);
  for (const read of running) read.resolve('x');
  expect(await Promise.all([...calls, other])).toEqual(['x', 'x', 'x']);
});

test('calls that arrive during a read share the next one, which begins when the read has ended', async () => {
  const first = share();
  await nextTurn();
  const others = [share(), share()];
  await nextTurn();
  expect(running).toHaveLength(1);
  running[0]?.resolve('old');
  expect(await first).toBe('old');
  others.push(share());
  await nextTurn();
  expect(running).toHaveLength(2);
  running[1]?.resolve('new');
  expect(await Promise.all(others)).toEqual(['new', 'new', 'new']);
});

test('a read that hangs delays the next one for 20 ms only', async () => {
  const hanging = share();
  await nextTurn();
  const next = share();
  await vi.advanceTimersByTimeAsync(19);
  await nextTurn();
  expect(running).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  await nextTurn();
  running[1]?.resolve('new');
  expect(await next).toBe('new');
  running[0]?.resolve('old');
  expect(await hanging).toBe('old');
});

test('the error of a read is that of its own calls', async () => {
  const first = share();
  await nextTurn();
  const second = share();
  running[0]?.reject(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await nextTurn();
  running[1]?.resolve('found');
  expect(await second).toBe('found');
});

test('after a read that hangs, calls wait for the read that began last', async () => {
  const calls = [share()];
  for (let begun = 2; begun <= 3; begun++) {
    await nextTurn();
    calls.push(share());
    if (begun === 2) await vi.advanceTimersByTimeAsync(20);
    await nextTurn();
    if (begun === 2) running[0]?.resolve('first');
  }
  expect(running).toHaveLength(2);
  running[1]?.resolve('second');
  await nextTurn();
  running[2]?.resolve('third');
  expect(await Promise.all(calls)).toEqual(['first', 'second', 'third']);
});

test('a read that fails at once is not shared by later calls', async () => {
  await expect(shared.share('a', () => Promise.reject(new Error('closed')))).rejects.toThrow('closed');
  const next = share();
  await nextTurn();
  running[0]?.resolve('x');
  expect(await next).toBe('x');
});

test('a call that arrives when a read has begun does not share it, however early that is', async () => {
  let inner: Promise<string> | undefined;
  const first = shared.share('a', () => {
    inner = shared.share('a', async () => 'new');
    return Promise.resolve('old');
  });
  expect(await first).toBe('old');
  expect(await inner).toBe('new');
});
