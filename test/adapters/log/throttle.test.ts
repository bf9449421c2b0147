import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OTHER_KINDS, reportSuppressed, throttle } from '../../../src/adapters/log/throttle.ts';

function throttled(limit: number) {
  const suppressed: (readonly [kind: string, count: number])[] = [];
  const passes = throttle(limit, (count, kind) => suppressed.push([kind, count]));
  const pass = (count: number, kind = 'a') => Array.from({ length: count }, () => passes(kind));
  return {
    passes,
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

  test('lets a number of events pass per second, and reports how many did not when the second is over', () => {
    const { passed, suppressed } = throttled(10);
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

  test('reports nothing when all events passed, and has no timer without events', () => {
    const { passed, suppressed } = throttled(10);
    expect(vi.getTimerCount()).toBe(0);
    expect(passed(10)).toBe(10);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(5000);
    expect(suppressed).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('counts each kind separately, and kinds beyond the limit together', () => {
    const { passed, suppressed } = throttled(1);
    for (let kind = 1; kind <= 48; kind += 1) expect(passed(1, `${kind}`)).toBe(1);
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

  test('tells a limited number of kinds apart, however many there are', () => {
    const { passes, suppressed } = throttled(1);
    const passed = Array.from({ length: 100_000 }, (_, index) => passes(`${index}`)).filter(Boolean);
    expect(passed).toHaveLength(51);
    vi.advanceTimersByTime(1000);
    expect(suppressed).toEqual([[OTHER_KINDS, 99_949]]);
  });

  test('counts events that its own report causes', () => {
    const counts: number[] = [];
    const passes = throttle(1, (count) => {
      counts.push(count);
      expect(passes('a')).toBe(true);
    });
    passes('a');
    passes('a');
    vi.advanceTimersByTime(3000);
    expect(counts).toEqual([1]);
  });

  test('reports once when the process exits, and again what it counts afterwards', () => {
    const { passed, suppressed } = throttled(1);
    passed(5);
    reportSuppressed();
    expect(suppressed).toEqual([['a', 4]]);
    expect(vi.getTimerCount()).toBe(0);
    reportSuppressed();
    expect(suppressed).toHaveLength(1);
    expect(passed(2)).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(suppressed).toEqual([
      ['a', 4],
      ['a', 1],
    ]);
  });

  test('reports together with all others that have suppressed events', () => {
    const throttles = Array.from({ length: 20 }, () => throttled(1));
    throttles[0]?.passed(2);
    vi.advanceTimersByTime(500);
    for (const { passed } of throttles.slice(1)) passed(2);
    vi.advanceTimersByTime(500);
    reportSuppressed();
    for (const { suppressed } of throttles) expect(suppressed).toEqual([['a', 1]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
