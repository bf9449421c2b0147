import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import { type DelayedRequest, RefusalDelays } from '../../../src/adapters/http/api/refusal-delays.ts';

/** In milliseconds. `Math.random` is 0.5, so each delay has its average length. */
const SHORTEST = 1000;
const LONGEST = 10_000;

let delays: RefusalDelays;
let response: EventEmitter;

/** A request on a connection, whose client disconnects when `response` emits `close`. */
function requestOn(connection: object): DelayedRequest {
  return {
    connection,
    onClose(listener) {
      response.once('close', listener);
      return () => response.off('close', listener);
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  delays = new RefusalDelays();
  response = new EventEmitter().setMaxListeners(0);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Returns the time until the response may be sent, in milliseconds. */
async function delayOf(connection: object, caller?: string): Promise<number> {
  const start = performance.now();
  let isSent = false;
  const waiting = delays.wait(requestOn(connection), caller).then(() => {
    isSent = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  while (!isSent) await vi.advanceTimersByTimeAsync(1);
  await waiting;
  return performance.now() - start;
}

describe('the delay of refusals', () => {
  test('begins with the second response within a second', async () => {
    const connection = {};
    expect(await delayOf(connection)).toBe(0);
    expect(await delayOf(connection)).toBe(SHORTEST);
    await vi.advanceTimersByTimeAsync(999);
    expect(await delayOf(connection)).toBe(SHORTEST);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await delayOf(connection)).toBe(0);
  });

  test('is for one caller on one connection', async () => {
    const connection = {};
    expect(await delayOf(connection, 'a')).toBe(0);
    expect(await delayOf(connection, 'b')).toBe(0);
    expect(await delayOf({}, 'b')).toBe(0);
    expect(await delayOf(connection, 'b')).toBe(SHORTEST);
  });

  test.each([
    [0, 0.5],
    [0.25, 0.75],
    [1, 1.5],
  ])('differs: with the random number %d, it is %d of the average', async (random, share) => {
    vi.mocked(Math.random).mockReturnValue(random);
    const connection = {};
    await delayOf(connection);
    expect(await delayOf(connection)).toBe(share * SHORTEST);
  });

  test.each([
    [100, 2000],
    [899, 9990],
    [900, LONGEST],
    [2000, LONGEST],
  ])('grows with the number of delayed responses: behind %i, it is %i ms', async (count, expected) => {
    const delayed = Array.from({ length: count }, () => ({}));
    for (const connection of delayed) await delays.wait(requestOn(connection), undefined);
    const connection = {};
    await delays.wait(requestOn(connection), undefined);
    vi.mocked(Math.random).mockReturnValue(100);
    for (const each of delayed) void delays.wait(requestOn(each), undefined);
    vi.mocked(Math.random).mockReturnValue(0.5);
    expect(await delayOf(connection)).toBe(expected);
  });

  test.each([
    ['the client has disconnected', () => response.emit('close')],
    ['the server stops', () => delays.end()],
  ])('ends when %s, and leaves nothing behind', async (_, end) => {
    const connection = {};
    await delays.wait(requestOn(connection), undefined);
    let isSent = false;
    const waiting = delays.wait(requestOn(connection), undefined).then(() => {
      isSent = true;
    });
    await vi.advanceTimersByTimeAsync(SHORTEST / 2);
    expect(isSent).toBe(false);
    end();
    await waiting;
    expect(vi.getTimerCount()).toBe(0);
    expect(response.listenerCount('close')).toBe(0);
    expect(await delayOf(connection)).toBe(SHORTEST);
  });

  test('is skipped, and ended, by a server that stops', async () => {
    const admission = new Admission();
    const connection = {};
    await admission.delayResponse(requestOn(connection), undefined, true);
    const waiting = admission.delayResponse(requestOn(connection), undefined, true);
    expect(vi.getTimerCount()).toBe(1);
    admission.stop();
    await waiting;
    expect(admission.isStopping).toBe(true);
    await admission.delayResponse(requestOn(connection), undefined, true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
