import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import { RateLimiter } from '../../../src/adapters/http/api/rate-limiter.ts';

/** Uses processor time. */
function block(milliseconds: number): void {
  const { user } = process.threadCpuUsage();
  while (process.threadCpuUsage().user - user < milliseconds * 1000) {}
}

function refusalOf(admission: Admission, method = 'GET', caller: string | undefined = 'caller') {
  return admission.refusalOf(method, caller, admission.isTooBusy());
}

/** Lets 256 requests arrive in this turn of the event loop, which then takes too long. Returns their refusals. */
function longTurn(admission: Admission): unknown[] {
  const refusals = Array.from({ length: 256 }, () => refusalOf(admission, 'GET', 'caller'));
  block(60);
  for (let index = 0; index < 16; index += 1) refusalOf(admission, 'GET', 'caller');
  return refusals.filter((refusal) => refusal !== undefined);
}

describe('the admission of requests', () => {
  test('accepts 256 requests in one turn of the event loop, even when the turn takes long', () => {
    const admission = new Admission();
    for (let count = 0; count < 256; count += 1) {
      if (count % 32 === 0) block(40);
      expect(refusalOf(admission, 'GET', 'caller')).toBeUndefined();
    }
  });

  test('accepts any number of requests in a turn that does not take long', () => {
    const admission = new Admission();
    for (let count = 0; count < 300; count += 1)
      expect(refusalOf(admission, 'GET', 'caller')).toBeUndefined();
  });

  test('refuses further requests in a turn that takes long, and accepts requests in the next turn', async () => {
    const admission = new Admission();
    expect(longTurn(admission)).toEqual([]);
    expect(refusalOf(admission, 'GET', 'caller')).toMatchObject({ code: 'overloaded' });
    expect(admission.refusalOf('GET', undefined, admission.isTooBusy())).toMatchObject({
      code: 'overloaded',
    });
    await nextTurn();
    expect(refusalOf(admission, 'GET', 'caller')).toBeUndefined();
  });

  test('refuses creates while 2,000 creates are in progress, and accepts reads', () => {
    const admission = new Admission();
    for (let count = 0; count < 2000; count += 1) admission.beginCreate();
    expect(refusalOf(admission, 'POST', 'caller')).toMatchObject({ code: 'overloaded' });
    expect(refusalOf(admission, 'GET', 'caller')).toBeUndefined();
    expect(refusalOf(admission, 'POST')).toMatchObject({ code: 'overloaded' });
    expect(admission.refusalOf('POST', undefined, false)).toBeUndefined();
    expect(() => admission.beginCreate()).toThrow('too many pets are being stored');
    admission.endCreate();
    expect(refusalOf(admission, 'POST', 'caller')).toBeUndefined();
  });
});

describe('the rate limiter', () => {
  function limiter(requests: number, seconds: number) {
    const clock = { now: 1000 };
    const rateLimiter = new RateLimiter({ requests, seconds }, () => clock.now);
    const accepted = (count: number, caller = 'a') =>
      Array.from({ length: count }, () => rateLimiter.take(caller)).filter((wait) => wait === 0).length;
    return { clock, rateLimiter, accepted };
  }

  test.each([
    [100, 1],
    [3, 1],
    [7, 60],
    [999_999, 3600],
  ])('accepts %i requests at once in %i s, and then the same number again', (requests, seconds) => {
    const { clock, accepted } = limiter(requests, seconds);
    expect(accepted(requests + 5)).toBe(requests);
    clock.now += seconds * 1000;
    expect(accepted(requests + 5)).toBe(requests);
  });

  test('accepts requests at the rate on average', () => {
    const { clock, accepted } = limiter(10, 1);
    expect(accepted(20)).toBe(10);
    for (let count = 0; count < 50; count += 1) {
      clock.now += 100;
      expect(accepted(3)).toBe(1);
    }
  });

  test('tells how long to wait for the next token', () => {
    const { clock, rateLimiter, accepted } = limiter(4, 60);
    accepted(4);
    expect(rateLimiter.take('a')).toBe(15_000);
    clock.now += 14_000;
    expect(rateLimiter.take('a')).toBe(1000);
    clock.now += 1000;
    expect(rateLimiter.take('a')).toBe(0);
  });

  test('limits each caller separately', () => {
    const { accepted } = limiter(5, 1);
    expect(accepted(9, 'a')).toBe(5);
    expect(accepted(9, 'b')).toBe(5);
  });

  test('remembers at most 10,000 callers, and first forgets those that can use their full limit', () => {
    const { clock, rateLimiter } = limiter(1, 1);
    for (let caller = 0; caller < 10_000; caller += 1) rateLimiter.take(`early ${caller}`);
    clock.now += 1000;
    expect(rateLimiter.take('late')).toBe(0);
    expect(rateLimiter.size).toBe(1);
    for (let caller = 0; caller < 20_000; caller += 1) rateLimiter.take(`many ${caller}`);
    expect(rateLimiter.size).toBe(10_000);
    expect(rateLimiter.take('many 19999')).toBeGreaterThan(0);
  });

  test.each([
    [0, 1],
    [1.5, 1],
    [1, 0],
    [1, Number.NaN],
  ])('refuses a limit of %d requests in %d s', (requests, seconds) => {
    expect(() => new RateLimiter({ requests, seconds })).toThrow(RangeError);
  });
});
