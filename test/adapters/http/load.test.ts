import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../../src/adapters/http/api/context.ts';
import { Load, TurnQueue } from '../../../src/adapters/http/api/load.ts';
import {
  bucketsOf,
  newSharedLimits,
  RATE_LIMIT_RULE,
  RateLimiter,
} from '../../../src/adapters/http/api/shared-limits.ts';
import { stopClock } from '../../support/clock.ts';

/** Lets a test decide how much processor time the thread has used. */
function stopProcessorTime(): { milliseconds: number } {
  const time = { milliseconds: 0 };
  const spy = vi.spyOn(process, 'threadCpuUsage');
  spy.mockImplementation(() => ({ user: time.milliseconds * 1000, system: 0 }));
  onTestFinished(() => spy.mockRestore());
  return time;
}

describe('the queue of turns', () => {
  test('handles requests in the order of their arrival, and ends a turn when its requests took 2 ms', async () => {
    const clock = stopClock();
    const queue = new TurnQueue();
    const turns: number[][] = [[]];
    /** Handles a request, which takes half a millisecond. */
    const handle = (request: number) => {
      const run = () => {
        turns.at(-1)?.push(request);
        clock.pass(0.5);
      };
      const turn = queue.enter();
      return turn === undefined ? run() : turn.then(run);
    };
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
    await nextTurn();
    expect(queue.enter()).toBeUndefined();
  });

  /** A queue whose requests use a whole turn each. `handled` has them in the order of their turns. */
  function setUp() {
    const clock = stopClock();
    const processor = stopProcessorTime();
    const queue = new TurnQueue();
    const handled: string[] = [];
    queue.enter();
    clock.pass(2);
    const send = (...requests: readonly string[]): void => {
      for (const request of requests) {
        queue.enter()?.then((isRefused) => {
          handled.push(isRefused ? `no ${request}` : request);
          clock.pass(2);
        });
      }
    };
    /** Lets the thread work before the next turn. Returns the requests of this turn. */
    const turn = async (milliseconds = 0): Promise<string[]> => {
      processor.milliseconds += milliseconds;
      await nextTurn();
      return handled.splice(0);
    };
    return { clock, send, turn };
  }

  test('handles newer requests before one that has waited for 200 ms of work, whatever the clock says', async () => {
    const { clock, send, turn } = setUp();
    send('a', 'b', 'c');
    clock.pass(10_000);
    expect(await turn(199)).toEqual(['a']);
    send('d');
    expect(await turn(1)).toEqual(['d']);
    // Nobody else waits.
    expect([await turn(), await turn()]).toEqual([['c'], ['b']]);
  });

  test('refuses a request that has waited for a second of work, and not more of them than it accepts', async () => {
    const { send, turn } = setUp();
    send('a', 'b', 'c');
    expect(await turn(200)).toEqual(['c']);
    send('d', 'e', 'f');
    expect(await turn(199)).toEqual(['d']);
    expect(await turn(601)).toEqual(['no a', 'f']);
    send('g');
    expect(await turn()).toEqual(['no b', 'g']);
    send('h');
    expect(await turn()).toEqual(['h']);
  });
});

function contextOf(authorization: string, path = '/v1/pets', method = 'GET'): Context {
  const animalStore = { path, isTooBusy: false, holder: undefined, callerId: 'caller' };
  return { method, headers: { authorization }, state: { animalStore } } as unknown as Context;
}

describe('the load of a server', () => {
  /** Sends a request whose API key is valid or not. Returns whether it was handled at once. */
  function send(load: Load, authorization: string, isValid: boolean, path?: string): boolean {
    const ctx = contextOf(authorization, path);
    let isHandled = false;
    void load.takeTurn(ctx, async () => {
      isHandled = true;
      if (isValid) ctx.state.animalStore.holder = { id: 'id', name: 'name' };
    });
    return isHandled;
  }

  test('lets no client without a valid API key delay those with one, or health checks', async () => {
    const clock = stopClock();
    const load = new Load();
    expect(send(load, 'Bearer known', true)).toBe(true);
    await nextTurn();
    expect(send(load, '', false)).toBe(true);
    clock.pass(2);
    expect(send(load, 'Bearer unknown', false)).toBe(false);
    expect(send(load, 'Bearer known', false)).toBe(true);
    expect(send(load, '', false, '/livez')).toBe(true);
    await Promise.resolve();
    // The key was not valid any longer.
    expect(send(load, 'Bearer known', true)).toBe(false);
    await nextTurn();
  });

  test('remembers at most 1,000 valid keys', async () => {
    const clock = stopClock();
    const load = new Load();
    for (let key = 0; key < 1001; key += 1) {
      send(load, `Bearer ${key}`, true);
      await Promise.resolve();
    }
    await nextTurn();
    send(load, '', false);
    clock.pass(2);
    expect(send(load, 'Bearer 1000', true)).toBe(true);
    expect(send(load, 'Bearer 1', true)).toBe(false);
    await nextTurn();
  });

  test('refuses requests while the server stops, or whose turn came too late, but never metrics', () => {
    const load = new Load();
    const next = vi.fn();
    const pass = (ctx: Context) => () => load.limitLoad(ctx, next);
    const busy = contextOf('');
    busy.state.animalStore.isTooBusy = true;
    expect(pass(busy)).toThrow('the server receives more requests');
    pass(contextOf(''))();
    load.isRefusing = true;
    expect(pass(contextOf(''))).toThrow('the server is stopping');
    const metrics = contextOf('', '/metrics');
    metrics.state.animalStore.isTooBusy = true;
    pass(metrics)();
    expect(load.refused).toEqual({ busy: 1, rate: 0, stopping: 1 });
    expect(next).toHaveBeenCalledTimes(2);
  });

  test('limits the rate of each caller, and metrics have a limit of their own', () => {
    stopClock();
    const memory = newSharedLimits(2);
    const loads = [0, 1].map((index) => new Load({ requests: 1, seconds: 60 }, { index, count: 2, memory }));
    const next = vi.fn();
    let count = 0;
    const pass = (path: string) => {
      count += 1;
      loads[count % 2]?.limitLoad(contextOf('', path), next);
    };
    pass('/v1/pets');
    expect(() => pass('/v1/pets')).toThrow('too many requests with this API key: retry after 60 s');
    for (let each = 0; each < 10; each += 1) pass('/metrics');
    expect(() => pass('/metrics')).toThrow('retry after 1 s');
    expect(loads.map(({ refused }) => refused.rate)).toEqual([1, 1]);
    expect(next).toHaveBeenCalledTimes(11);
  });
});

describe('the rate limiter', () => {
  function limiter(requests: number, seconds: number) {
    const clock = stopClock();
    const rateLimiter = new RateLimiter({ requests, seconds }, bucketsOf('requests'));
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
    expect(RATE_LIMIT_RULE.accepts({ requests, seconds })).toBe(false);
  });
});
