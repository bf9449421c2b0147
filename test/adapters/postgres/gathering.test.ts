import { expect, onTestFinished, test, vi } from 'vitest';
import { Gathering } from '../../../src/adapters/postgres/gathering.ts';

const LIMIT = 1000;
const LONG = 60_000;

async function isOver(wait: Promise<void> | undefined): Promise<boolean> {
  return await Promise.race([
    Promise.resolve(wait).then(() => true),
    new Promise<false>((r) => setImmediate(r, false)),
  ]);
}

test('a wait ends when as many creates are pending as the last group had, and more', async () => {
  const gathering = new Gathering();
  const wait = gathering.wait({ count: 3, ms: LONG }, 2, LIMIT);
  gathering.added(4);
  expect(await isOver(wait)).toBe(false);
  gathering.added(5);
  expect(await isOver(wait)).toBe(true);
});

test('a wait ends when a group is full', async () => {
  const gathering = new Gathering();
  const wait = gathering.wait({ count: 3, ms: LONG }, 2, 4);
  expect(await isOver(wait)).toBe(false);
  gathering.added(4);
  expect(await isOver(wait)).toBe(true);
});

test.each([
  [40, 10],
  [LONG, 50],
])('a wait after a group that took %i ms ends after %i ms', async (ms, expected) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const wait = new Gathering().wait({ count: 3, ms }, 0, LIMIT);
  vi.advanceTimersByTime(expected - 1);
  expect(await isOver(wait)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(await isOver(wait)).toBe(true);
});

test.each([
  ['after a fast group', { count: 3, ms: 3 }, 2],
  ['for a caller that is alone', { count: 1, ms: LONG }, 0],
  ['when a full group is pending', { count: 3, ms: LONG }, LIMIT],
])('there is no wait %s', async (_title, last, pending) => {
  expect(await isOver(new Gathering().wait(last, pending, LIMIT))).toBe(true);
});

test('the end of the writer ends a wait', async () => {
  const gathering = new Gathering();
  const wait = gathering.wait({ count: 3, ms: LONG }, 2, LIMIT);
  gathering.end();
  expect(await isOver(wait)).toBe(true);
});
