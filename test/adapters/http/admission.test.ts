import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import type { Exchange } from '../../../src/adapters/http/api/exchange.ts';
import { isHealthCheck, readyz } from '../../../src/adapters/http/api/health.ts';
import type { HttpStore } from '../../../src/adapters/http/api/options.ts';
import { RATE_LIMIT, RateLimiter } from '../../../src/adapters/http/api/rate-limiter.ts';
import { stopClock } from '../../support/clock.ts';

const REQUEST = { connection: {} };
const KNOWN = 'Bearer known';

function refusalOf(admission: Admission, method = 'GET', caller: string | undefined = 'caller') {
  return admission.refusalOf(method, caller, admission.isTooBusy(undefined));
}

/** Lets a test decide how much processor time the thread has used. */
function stopProcessorTime(): { milliseconds: number } {
  const time = { milliseconds: 0 };
  const spy = vi.spyOn(process, 'threadCpuUsage');
  spy.mockImplementation(() => ({ user: time.milliseconds * 1000, system: 0 }));
  onTestFinished(() => spy.mockRestore());
  return time;
}

describe('the admission of requests', () => {
  test('handles requests in the order of their arrival, and ends a turn when its requests took 2 ms', async () => {
    const clock = stopClock();
    const admission = new Admission();
    const turns: number[][] = [];
    /** Handles a request, which takes half a millisecond. */
    const handle = (request: number) => {
      const run = () => {
        turns.at(-1)?.push(request);
        clock.pass(0.5);
      };
      const turn = admission.enter(REQUEST, undefined);
      return turn === undefined ? run() : turn.then(run);
    };
    turns.push([]);
    const handled = Array.from({ length: 10 }, (_, request) => handle(request));
    while (turns.flat().length < 10) {
      turns.push([]);
      await nextTurn();
    }
    await Promise.all(handled);
    expect(turns.filter((turn) => turn.length > 0)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
  });

  test('lets a request wait behind earlier ones, also when it arrives in a later turn', async () => {
    const clock = stopClock();
    const admission = new Admission();
    expect(admission.enter(REQUEST, undefined)).toBeUndefined();
    clock.pass(2);
    const order: string[] = [];
    const first = admission.enter(REQUEST, undefined)?.then(() => order.push('first'));
    const second = admission.enter(REQUEST, undefined)?.then(() => order.push('second'));
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
    await nextTurn();
    expect(admission.enter(REQUEST, undefined)).toBeUndefined();
  });

  test('handles one request of each connection in turn, so that a pipeline delays the others by one', async () => {
    const clock = stopClock();
    const processor = stopProcessorTime();
    const admission = new Admission();
    admission.enter(REQUEST, undefined);
    clock.pass(2);
    const order: string[] = [];
    const enter = (name: string, connection: object) => {
      const turn = admission.enter({ connection }, undefined);
      expect(turn).toBeInstanceOf(Promise);
      return turn?.then(() => {
        order.push(name);
        clock.pass(2);
        processor.milliseconds += 200;
      });
    };
    const pipelining = {};
    const pipeline = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => enter(name, pipelining));
    const others = [enter('b1', {}), enter('c1', {})];
    await Promise.all(others);
    expect(order).toEqual(['a1', 'b1', 'c1']);
    // Each connection has waited for at most 400 ms: the time is counted from its previous turn.
    await pipeline[2];
    expect(refusalOf(admission)).toBeUndefined();
    await Promise.all(pipeline);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', 'a4', 'a5']);
  });

  test('lets no client without a valid API key delay those with one, on any connection', async () => {
    const clock = stopClock();
    const admission = new Admission();
    admission.setKnown(KNOWN, true);
    admission.enter(REQUEST, undefined);
    clock.pass(2);
    const waiting = [
      admission.enter(REQUEST, undefined),
      admission.enter({ connection: {} }, 'Bearer unknown'),
    ];
    expect(waiting).toEqual([expect.any(Promise), expect.any(Promise)]);
    expect(admission.enter({ connection: {} }, KNOWN)).toBeUndefined();
    admission.setKnown(KNOWN, false);
    expect(admission.enter({ connection: {} }, KNOWN)).toBeInstanceOf(Promise);
    await Promise.all(waiting);
  });

  test('remembers at most 1,000 valid keys', () => {
    const clock = stopClock();
    const admission = new Admission();
    for (let key = 0; key < 1001; key += 1) {
      admission.setKnown(`Bearer ${key}`, true);
      admission.setKnown('Bearer 0', true);
    }
    admission.setKnown('Bearer 1000', true);
    admission.enter(REQUEST, undefined);
    clock.pass(2);
    expect(admission.enter(REQUEST, 'Bearer 1000')).toBeUndefined();
    expect(admission.enter(REQUEST, 'Bearer 1')).toBeInstanceOf(Promise);
  });

  test.each([
    ['with a valid API key', KNOWN, 200],
    ['without one', undefined, 500],
  ])('%s, refuses requests when one has waited for as long as it may', async (_, authorization, limit) => {
    const clock = stopClock();
    const processor = stopProcessorTime();
    const admission = new Admission();
    admission.setKnown(KNOWN, true);
    const refusal = (caller?: string) =>
      admission.refusalOf('GET', caller, admission.isTooBusy(authorization));
    admission.enter({ connection: {} }, authorization);
    clock.pass(2);
    const waiting = Array.from({ length: 4 }, () => admission.enter({ connection: {} }, authorization));
    const work = async (milliseconds: number) => {
      processor.milliseconds += milliseconds;
      // The first request that is handled uses the whole turn.
      const handled = waiting.shift()?.then(() => clock.pass(2));
      waiting.push(admission.enter({ connection: {} }, authorization));
      await handled;
    };
    clock.pass(1000);
    await work(9);
    expect(admission.isCrowded).toBe(false);
    await work(1);
    expect(admission.isCrowded).toBe(true);
    await work(limit - 11);
    expect(refusal('caller')).toBeUndefined();
    await work(1);
    expect(refusal('caller')).toMatchObject({ code: 'overloaded' });
    expect(refusal()).toMatchObject({ code: 'overloaded' });
    expect(admission.refused.busy).toBe(2);
    await Promise.all(waiting);
    await nextTurn();
    expect(refusal('caller')).toBeUndefined();
  });

  test('refuses creates while 2,000 creates are in progress, and accepts reads', () => {
    const admission = new Admission();
    for (let count = 0; count < 2000; count += 1) admission.beginCreate();
    expect(refusalOf(admission, 'POST', 'caller')).toMatchObject({ code: 'overloaded' });
    expect(refusalOf(admission, 'GET', 'caller')).toBeUndefined();
    expect(refusalOf(admission, 'POST')).toMatchObject({ code: 'overloaded' });
    expect(admission.refusalOf('POST', undefined, false)).toBeUndefined();
    expect(() => admission.beginCreate()).toThrow('too many pets are being stored');
    expect(admission.refused).toEqual({ busy: 0, creates: 3, rate: 0, stopping: 0 });
    admission.endCreate();
    expect(refusalOf(admission, 'POST', 'caller')).toBeUndefined();
  });

  test('refuses every request with an API key when the server has been stopping for a while', () => {
    const admission = new Admission();
    expect(refusalOf(admission)).toBeUndefined();
    admission.refuse();
    expect(refusalOf(admission)).toMatchObject({ code: 'overloaded', message: 'the server is stopping' });
    expect(admission.refusalOf('GET', undefined, false)).toBeUndefined();
    expect(admission.refused).toEqual({ busy: 0, creates: 0, rate: 0, stopping: 1 });
  });

  test('responds to equal refusals because of the rate with the same error', () => {
    stopClock();
    const admission = new Admission({ requests: 1, seconds: 60 });
    expect(refusalOf(admission)).toBeUndefined();
    const refusal = refusalOf(admission);
    expect(refusal).toMatchObject({
      code: 'rate_limited',
      message: 'too many requests with this API key: retry after 60 s',
      retryAfter: 60,
    });
    expect(refusalOf(admission)).toBe(refusal);
    expect(admission.refused.rate).toBe(2);
  });

  test.each([
    ['/livez', true],
    ['/readyz', true],
    ['/v1', false],
    ['', false],
  ])('%s is a health check, which is never refused: %s', (path, isNeverRefused) => {
    expect(isHealthCheck(path)).toBe(isNeverRefused);
  });

  test('/readyz names the reason why the server is not ready', async () => {
    const store = { check: () => Promise.reject(new Error('x')) } as unknown as HttpStore;
    const admission = new Admission();
    const check = async () => (await readyz(store, admission)({} as Exchange)).body;
    expect(await check()).toBe('{"status":"unavailable","reason":"storage"}');
    admission.stop();
    expect(await check()).toBe('{"status":"unavailable","reason":"stopping"}');
  });
});

describe('the rate limiter', () => {
  function limiter(requests: number, seconds: number) {
    const clock = stopClock();
    const rateLimiter = new RateLimiter({ requests, seconds });
    const accepted = (count: number, caller = 'a') =>
      Array.from({ length: count }, () => rateLimiter.takeToken(caller)).filter((wait) => wait === 0).length;
    return { clock, rateLimiter, accepted };
  }

  test.each([
    [100, 1],
    [3, 1],
    [7, 60],
    [9_999, 3600],
  ])('accepts %i requests at once in %i s, and then the same number again', (requests, seconds) => {
    const { clock, accepted } = limiter(requests, seconds);
    expect(accepted(requests + 5)).toBe(requests);
    clock.pass(seconds * 1000);
    expect(accepted(requests + 5)).toBe(requests);
  });

  test('accepts requests at the rate on average', () => {
    const { clock, accepted } = limiter(10, 1);
    expect(accepted(20)).toBe(10);
    for (let count = 0; count < 50; count += 1) {
      clock.pass(100);
      expect(accepted(3)).toBe(1);
    }
  });

  test('tells how long to wait for the next token', () => {
    const { clock, rateLimiter, accepted } = limiter(4, 60);
    accepted(4);
    expect(rateLimiter.takeToken('a')).toBe(15_000);
    clock.pass(14_000);
    expect(rateLimiter.takeToken('a')).toBe(1000);
    clock.pass(1000);
    expect(rateLimiter.takeToken('a')).toBe(0);
  });

  test('limits each caller separately', () => {
    const { accepted } = limiter(5, 1);
    expect(accepted(9, 'a')).toBe(5);
    expect(accepted(9, 'b')).toBe(5);
  });

  test('remembers callers within a fixed memory, and first forgets those that can use their full limit', () => {
    const { clock, rateLimiter } = limiter(1, 1);
    for (let caller = 0; caller < 40_000; caller += 1) rateLimiter.takeToken(`early ${caller}`);
    clock.pass(1000);
    expect(rateLimiter.takeToken('late')).toBe(0);
    for (let caller = 0; caller < 1000; caller += 1) rateLimiter.takeToken(`many ${caller}`);
    expect(rateLimiter.takeToken('late')).toBeGreaterThan(0);
  });

  test.each([
    [0, 1],
    [1.5, 1],
    [1, 0],
    [1, Number.NaN],
    [1, Infinity],
  ])('a limit of %d requests in %d s is invalid', (requests, seconds) => {
    expect(RATE_LIMIT.accepts({ requests, seconds })).toBe(false);
  });
});
