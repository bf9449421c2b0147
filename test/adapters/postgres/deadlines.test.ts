import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines } from '../../../src/adapters/postgres/deadlines.ts';

const onLate = vi.fn();
let deadlines: Deadlines;

beforeEach(() => {
  vi.useFakeTimers();
  onLate.mockClear();
  deadlines = new Deadlines(1000, onLate);
});

afterEach(() => {
  vi.useRealTimers();
});

test('an operation that does not end is late, once', () => {
  deadlines.begin();
  vi.advanceTimersByTime(999);
  expect(onLate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(5000);
  expect(onLate).toHaveBeenCalledTimes(1);
});

test('each operation has its own deadline', () => {
  deadlines.begin();
  vi.advanceTimersByTime(600);
  deadlines.begin();
  vi.advanceTimersByTime(300);
  deadlines.end();
  vi.advanceTimersByTime(600);
  expect(onLate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(onLate).toHaveBeenCalledTimes(1);
});

test('one timer serves many operations, and none runs when all have ended', () => {
  for (let count = 0; count < 100; count++) {
    deadlines.begin();
    deadlines.end();
  }
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
  expect(onLate).not.toHaveBeenCalled();
  deadlines.begin();
  vi.advanceTimersByTime(1000);
  expect(onLate).toHaveBeenCalledTimes(1);
});

test('clear ends all operations', () => {
  deadlines.begin();
  deadlines.begin();
  deadlines.clear();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(5000);
  expect(onLate).not.toHaveBeenCalled();
});

test('without a timeout, no operation is late', () => {
  const unlimited = new Deadlines(0, onLate);
  unlimited.begin();
  vi.advanceTimersByTime(1e9);
  expect(onLate).not.toHaveBeenCalled();
});
