import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../../src/adapters/http/api/context.ts';
import { HttpError } from '../../../src/adapters/http/api/errors.ts';
import { Load, RefusalDelays } from '../../../src/adapters/http/api/load.ts';
import { bucketsOf, RateLimiter } from '../../../src/adapters/http/api/shared-limits.ts';
import { TurnQueue } from '../../../src/adapters/http/api/turn-queue.ts';
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
      const turn = queue.enter({});
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
    expect(queue.enter({})).toBeUndefined();
  });

  test('ends a turn after 20 requests, however little time they took', async () => {
    const queue = new TurnQueue();
    const turns = Array.from({ length: 21 }, () => queue.enter({}));
    expect(turns.filter((turn) => turn === undefined)).toHaveLength(20);
    await turns.at(-1);
  });

  test('handles one request of each connection, then the next one of each', async () => {
    const clock = stopClock();
    const queue = new TurnQueue();
    queue.enter({});
    clock.pass(2);
    const handled: string[] = [];
    const [a, b] = [{}, {}];
    const enter = async (connection: object, request: string) => {
      await queue.enter(connection);
      handled.push(request);
    };
    await Promise.all([enter(a, 'a1'), enter(a, 'a2'), enter(a, 'a3'), enter(b, 'b1')]);
    expect(handled).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  test('its waiting time is the work since the first turn without the next request, whatever the clock says', async () => {
    const clock = stopClock();
    const processor = stopProcessorTime();
    const queue = new TurnQueue();
    queue.enter({});
    clock.pass(2);
    const waiting = Array.from({ length: 4 }, () => queue.enter({}));
    /** Lets a turn handle one request, which uses it up. */
    const work = async (milliseconds: number) => {
      processor.milliseconds += milliseconds;
      const handled = waiting.shift()?.then(() => clock.pass(2));
      waiting.push(queue.enter({}));
      await handled;
    };
    clock.pass(1000);
    await work(500);
    expect(queue.waitingTime).toBe(0);
    await work(199);
    expect(queue.waitingTime).toBe(199);
    await work(1);
    expect(queue.waitingTime).toBe(200);
    await Promise.all(waiting);
    await nextTurn();
    expect(queue.waitingTime).toBe(0);
  });
});

function contextOf(authorization: string, path = '/v1/pets', method = 'GET', socket = {}): Context {
  const animalStore = { path, isTooBusy: false, holder: undefined, callerId: 'caller' };
  return { method, headers: { authorization }, socket, state: { animalStore } } as unknown as Context;
}

describe('the load of a server', () => {
  interface Sent {
    readonly path?: string;
    readonly socket?: object;
  }

  /** Sends a request whose API key is valid or not. Returns whether it was handled at once, after its microtasks. */
  async function send(
    load: Load,
    authorization: string,
    isValid: boolean,
    { path = '/v1/pets', socket = {} }: Sent = {},
  ): Promise<boolean> {
    const ctx = contextOf(authorization, path, 'GET', socket);
    let isHandled = false;
    void load.takeTurn(ctx, async () => {
      isHandled = true;
      if (isValid) ctx.state.animalStore.holder = { id: 'id', name: 'name' };
    });
    for (let count = 0; count < 5; count += 1) await Promise.resolve();
    return isHandled;
  }

  test('lets no client without a valid API key delay those with one', async () => {
    const clock = stopClock();
    const load = new Load();
    expect(await send(load, 'Bearer known', true)).toBe(true);
    await nextTurn();
    expect(await send(load, '', false)).toBe(true);
    clock.pass(2);
    expect(await send(load, 'Bearer unknown', false)).toBe(false);
    expect(await send(load, 'Bearer known', false)).toBe(true);
    // The key was not valid any longer.
    expect(await send(load, 'Bearer known', true)).toBe(false);
    await nextTurn();
  });

  test.each(['/livez', '/v1/pets'])(
    'lets clients that send requests without a known key in quick succession wait for each other alone: %s',
    async (path) => {
      const clock = stopClock();
      const load = new Load();
      const [flood, other] = [{}, {}];
      expect(await send(load, '', false, { path, socket: flood })).toBe(true);
      await nextTurn();
      expect(await send(load, '', false, { path, socket: flood })).toBe(true);
      clock.pass(2);
      expect(await send(load, '', false, { path, socket: flood })).toBe(false);
      expect(await send(load, '', false, { path, socket: other })).toBe(true);
      await nextTurn();
      clock.pass(1000);
      expect(await send(load, '', false, { path, socket: flood })).toBe(true);
      await nextTurn();
    },
  );

  test('delays health checks and preflight requests only in a flood of them', async () => {
    const delay = vi.spyOn(RefusalDelays.prototype, 'wait').mockResolvedValue();
    const waitingTime = vi.spyOn(TurnQueue.prototype, 'waitingTime', 'get').mockReturnValue(9);
    onTestFinished(() => {
      delay.mockRestore();
      waitingTime.mockRestore();
    });
    const load = new Load();
    const ctx = contextOf('', '/livez');
    await load.takeTurnOfAccepted(ctx);
    await load.takeTurnOfAccepted(ctx);
    expect(delay).not.toHaveBeenCalled();
    waitingTime.mockReturnValue(10);
    await load.takeTurnOfAccepted(contextOf('', '/livez'));
    expect(delay).not.toHaveBeenCalled();
    await load.takeTurnOfAccepted(ctx);
    expect(delay).toHaveBeenCalledOnce();
  });

  test('remembers at most 1,000 valid keys', async () => {
    const clock = stopClock();
    const load = new Load();
    for (let key = 0; key < 1001; key += 1) {
      await send(load, `Bearer ${key}`, true);
      await nextTurn();
    }
    await send(load, '', false);
    clock.pass(2);
    expect(await send(load, 'Bearer 1000', true)).toBe(true);
    expect(await send(load, 'Bearer 1', true)).toBe(false);
    await nextTurn();
  });

  test('refuses requests while the server stops or is too busy, but never metrics', () => {
    const load = new Load();
    const next = vi.fn();
    const pass = (ctx: Context) => () => load.limitLoad('/metrics')(ctx, next);
    const busy = contextOf('');
    busy.state.animalStore.isTooBusy = true;
    expect(pass(busy)).toThrow('the server receives more requests');
    pass(contextOf(''))();
    load.isRefusing = true;
    expect(pass(contextOf(''))).toThrow('the server is stopping');
    const metrics = contextOf('', '/metrics');
    metrics.state.animalStore.isTooBusy = true;
    pass(metrics)();
    expect(load.refused).toEqual({ busy: 1, creates: 0, rate: 0, stopping: 1 });
    expect(next).toHaveBeenCalledTimes(2);
  });
});

describe('the delay of refusals', () => {
  /** In milliseconds, and `Math.random` is 0.5, so each delay has its average length. */
  const [SHORTEST, LONGEST] = [1000, 10_000];

  interface Refused {
    readonly socket: object;
    readonly caller?: string;
    readonly res?: { destroyed: boolean };
  }

  function setUp() {
    const clock = stopClock();
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const delays = new RefusalDelays();
    const stop = { isStopping: false };
    const refuse = ({ socket, caller, res = { destroyed: false } }: Refused): Promise<void> => {
      const ctx = { socket, res, state: { animalStore: { callerId: caller } } } as unknown as Context;
      return delays.wait(ctx, () => stop.isStopping);
    };
    /** Returns the time until a refusal is sent, in steps of half a second. */
    const delayOf = async (refused: Refused): Promise<number> => {
      let isSent = false;
      void refuse(refused).then(() => {
        isSent = true;
      });
      for (let time = 0; ; time += 500) {
        await nextTurn();
        if (isSent) return time;
        clock.pass(500);
      }
    };
    return { clock, random, stop, refuse, delayOf };
  }

  test('begins with the second refusal within a second', async () => {
    const { clock, delayOf } = setUp();
    const socket = {};
    expect(await delayOf({ socket })).toBe(0);
    expect(await delayOf({ socket })).toBe(SHORTEST);
    clock.pass(999);
    expect(await delayOf({ socket })).toBe(SHORTEST);
    clock.pass(1000);
    expect(await delayOf({ socket })).toBe(0);
  });

  test('is for one caller on one connection', async () => {
    const { delayOf } = setUp();
    const socket = {};
    expect(await delayOf({ socket, caller: 'a' })).toBe(0);
    expect(await delayOf({ socket, caller: 'b' })).toBe(0);
    expect(await delayOf({ socket: {}, caller: 'b' })).toBe(0);
    expect(await delayOf({ socket, caller: 'b' })).toBe(SHORTEST);
  });

  test.each([
    [0, 0.5],
    [1, 1.5],
  ])('differs: with the random number %d, it is %d of the average', async (number, share) => {
    const { random, delayOf } = setUp();
    random.mockReturnValue(number);
    const socket = {};
    await delayOf({ socket });
    expect(await delayOf({ socket })).toBe(share * SHORTEST);
  });

  test.each([
    [100, 2000],
    [900, LONGEST],
    [2000, LONGEST],
  ])('grows with the number of delayed refusals: behind %i, it is %i ms', async (count, expected) => {
    const { random, refuse, delayOf } = setUp();
    const sockets = Array.from({ length: count }, () => ({}));
    for (const socket of [...sockets, sockets]) await refuse({ socket });
    random.mockReturnValue(100);
    for (const socket of sockets) void refuse({ socket });
    random.mockReturnValue(0.5);
    expect(await delayOf({ socket: sockets })).toBe(expected);
  });

  test.each(['disconnect', 'stop'] as const)('ends within a second after a %s', async (end) => {
    const { clock, random, stop, refuse, delayOf } = setUp();
    const socket = {};
    const res = { destroyed: false };
    await refuse({ socket });
    random.mockReturnValue(100);
    const refused = refuse({ socket, res });
    clock.pass(10_000);
    await nextTurn();
    if (end === 'stop') stop.isStopping = true;
    else res.destroyed = true;
    clock.pass(1000);
    await refused;
    expect(vi.getTimerCount()).toBe(0);
    random.mockReturnValue(0.5);
    stop.isStopping = false;
    expect(await delayOf({ socket })).toBe(SHORTEST);
  });

  test('holds for refusals of a busy server, and for all responses to clients without a key while requests wait', async () => {
    const wait = vi.spyOn(RefusalDelays.prototype, 'wait').mockResolvedValue();
    const waitingTime = vi.spyOn(TurnQueue.prototype, 'waitingTime', 'get').mockReturnValue(0);
    onTestFinished(() => void [wait, waitingTime].map((each) => each.mockRestore()));
    const load = new Load();
    const isDelayed = async (
      holder: object | undefined,
      error?: Error,
      path = '/v1/pets',
    ): Promise<boolean> => {
      wait.mockClear();
      const ctx = contextOf('', path);
      const respond = async () => {
        Object.assign(ctx.state.animalStore, { holder });
        if (error !== undefined) throw error;
      };
      await Promise.resolve(load.takeTurn(ctx, respond)).catch(() => {});
      return wait.mock.calls.length > 0;
    };
    const holder = { id: 'id', name: 'name' };
    expect(await isDelayed(holder)).toBe(false);
    expect(await isDelayed(undefined, new HttpError('unauthorized', ''))).toBe(false);
    expect(await isDelayed(holder, new HttpError('overloaded', ''))).toBe(true);
    waitingTime.mockReturnValue(10);
    expect(await isDelayed(holder)).toBe(false);
    expect(await isDelayed(undefined, new HttpError('unauthorized', ''))).toBe(true);
    expect(await isDelayed(undefined, undefined, '/openapi.json')).toBe(true);
    waitingTime.mockReturnValue(500);
    expect(await isDelayed(holder)).toBe(true);
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
});
