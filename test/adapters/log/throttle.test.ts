import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OTHER_KINDS, Throttle } from '../../../src/adapters/log/throttle.ts';

function throttled(limit: number, kinds: number) {
  const suppressed: (readonly [kind: string, count: number])[] = [];
  const throttle = new Throttle({
    limit,
    kinds,
    onSuppressed: (count, kind) => suppressed.push([kind, count]),
  });
  const pass = (count: number, kind = 'a') => Array.from({ length: count }, () => throttle.passes(kind));
  return {
    throttle,
    suppressed,
    passed: (count: number, kind?: string) => pass(count, kind).filter(Boolean).length,
  };
}

describe('a throttle', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.runAllTimers();
    vi.useRealTimers();
  });

  test('lets so many events of a second pass, and tells how many did not when the second is over', () => {
    const { passed, suppressed } = throttled(10, 1);
    expect(passed(1000)).toBe(10);
    vi.advanceTimersByTime(999);
    expect(passed(5)).toBe(0);
    expect(suppressed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(suppressed).toEqual([['a', 995]]);
    expect(passed(1000)).toBe(10);
    vi.advanceTimersByTime(1000);
    expect(suppressed).toEqual([
      ['a', 995],
      ['a', 990],
    ]);
  });

  test('tells nothing when everything passed, and has no timer without events', () => {
    const { passed, suppressed } = throttled(10, 1);
    expect(vi.getTimerCount()).toBe(0);
    expect(passed(10)).toBe(10);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(5000);
    expect(suppressed).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('counts each kind for itself, and those beyond the number of kinds together', () => {
    const { passed, suppressed } = throttled(1, 2);
    expect([passed(3, 'a'), passed(4, 'b'), passed(2, 'c'), passed(2, 'd'), passed(1, 'a')]).toEqual([
      1, 1, 1, 0, 0,
    ]);
    vi.advanceTimersByTime(1000);
    expect(suppressed).toEqual([
      ['a', 3],
      ['b', 3],
      [OTHER_KINDS, 3],
    ]);
    expect(passed(1, 'd')).toBe(1);
  });

  test('has a bounded number of kinds, however many there are', () => {
    const { throttle, suppressed } = throttled(1, 50);
    const passed = Array.from({ length: 100_000 }, (_, index) => throttle.passes(`${index}`)).filter(Boolean);
    expect(passed).toHaveLength(51);
    vi.advanceTimersByTime(1000);
    expect(suppressed).toEqual([[OTHER_KINDS, 99_949]]);
  });

  test('may be told to count the events that its report brings about', () => {
    const counts: number[] = [];
    const throttle: Throttle = new Throttle({
      limit: 1,
      kinds: 1,
      onSuppressed: (count) => {
        counts.push(count);
        expect(throttle.passes('a')).toBe(true);
      },
    });
    throttle.passes('a');
    throttle.passes('a');
    vi.advanceTimersByTime(3000);
    expect(counts).toEqual([1]);
  });

  test('reports at the exit of the process, and leaves no listener behind', () => {
    const before = process.listenerCount('exit');
    const { throttle, passed, suppressed } = throttled(1, 1);
    passed(5);
    expect(process.listeners('exit')).toContain(throttle.report);
    throttle.report();
    expect(suppressed).toEqual([['a', 4]]);
    expect(process.listenerCount('exit')).toBe(before);
    vi.advanceTimersByTime(5000);
    expect(suppressed).toHaveLength(1);
  });
});
