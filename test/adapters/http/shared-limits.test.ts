import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  bucketsOf,
  forgetServer,
  newSharedLimits,
  RateLimiter,
  type ServerThread,
  SharedConnections,
} from '../../../src/adapters/http/api/shared-limits.ts';

function threadsOf(count: number): ServerThread[] {
  const memory = newSharedLimits(count);
  return Array.from({ length: count }, (_, index) => ({ index, count, memory }));
}

describe('the connections of several servers', () => {
  test('are limited together', () => {
    const threads = threadsOf(3);
    const [first, second, third] = threads.map((thread) => new SharedConnections(thread)) as [
      SharedConnections,
      SharedConnections,
      SharedConnections,
    ];
    expect([first.add(3), second.add(3), second.add(3), third.add(3), first.add(3)]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    second.remove();
    expect([third.add(3), first.add(3)]).toEqual([true, false]);
  });

  test('of a server that has ended are forgotten', () => {
    const [first, second] = threadsOf(2) as [ServerThread, ServerThread];
    const ended = new SharedConnections(first);
    const other = new SharedConnections(second);
    expect([ended.add(2), ended.add(2), other.add(2)]).toEqual([true, true, false]);
    forgetServer(first);
    expect([other.add(2), other.add(2), other.add(2)]).toEqual([true, true, false]);
  });
});

describe('the rate of the requests to several servers', () => {
  let now = 10n ** 15n;
  const wait = (milliseconds: number) => {
    now += BigInt(milliseconds * 1e6);
  };
  beforeEach(() => {
    vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => now);
    return () => vi.restoreAllMocks();
  });
  const LIMIT = { requests: 3, seconds: 60 };
  const limitersOf = (count: number) =>
    threadsOf(count).map((thread) => new RateLimiter(LIMIT, bucketsOf('requests', thread))) as [
      RateLimiter,
      RateLimiter,
    ];

  test('is limited together, and for each caller', () => {
    const [first, second] = limitersOf(2);
    expect([first, second, first].map((limiter) => limiter.takeToken('a'))).toEqual([0, 0, 0]);
    expect([first.takeToken('a'), second.takeToken('a')]).toEqual([20_000, 20_000]);
    expect(second.takeToken('b')).toBe(0);
    wait(19_999);
    expect(second.takeToken('a')).toBe(1);
    wait(1);
    expect([second.takeToken('a'), first.takeToken('a')]).toEqual([0, 20_000]);
  });

  test('is counted apart from another limit, and from the connections of the servers', () => {
    const [thread] = threadsOf(1) as [ServerThread];
    const connections = new SharedConnections(thread);
    connections.setListening(true);
    expect(connections.add(1)).toBe(true);
    const limiters = (['requests', 'metrics'] as const).map(
      (limit) => new RateLimiter(LIMIT, bucketsOf(limit, thread)),
    );
    for (const limiter of limiters) {
      for (let caller = 0; caller < 40_000; caller += 1) limiter.takeToken(`old ${caller}`);
      expect(Array.from({ length: 4 }, () => limiter.takeToken('a'))).toEqual([0, 0, 0, 20_000]);
    }
    expect([connections.isAnyListening, connections.add(1)]).toEqual([true, false]);
  });

  test('is limited for each of many callers', () => {
    const [first, second] = limitersOf(2);
    const callers = Array.from({ length: 8000 }, (_, index) => String(index));
    for (let count = 0; count < 3; count++) {
      for (const caller of callers) expect(first.takeToken(caller)).toBe(0);
    }
    expect(callers.filter((caller) => second.takeToken(caller) === 0).length).toBeLessThan(80);
  });

  test('counts for a new caller when more callers have sent requests than are remembered', () => {
    const [first, second] = limitersOf(2);
    for (let caller = 0; caller < 40_000; caller++) first.takeToken(`old ${caller}`);
    const taken = [first, second, first, second].map((limiter) => limiter.takeToken('new'));
    expect(taken).toEqual([0, 0, 0, 20_000]);
  });
});
