/** The queue in which calls wait for a group: its limit, its deadlines and retries. */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallQueue, type QueuedCall } from '../../../src/adapters/storage-kit/call-queue.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { runs } from '../../support/property-runs.ts';

const TIMEOUT = 1000;

let queue: CallQueue<number, string>;

beforeEach(() => {
  vi.useFakeTimers();
  queue = new CallQueue({ timeout: TIMEOUT, full: 'too many calls', late: 'too late' });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const itemsOf = (calls: readonly QueuedCall<number, string>[]) => calls.map(({ item }) => item);

function addIgnored(...items: number[]): void {
  for (const item of items) queue.addCall(item).catch(() => {});
}

test('a call that is not sent before its deadline is rejected, alone', async () => {
  const first = queue.addCall(1);
  const late = expect(first).rejects.toMatchObject({ code: 'storage_unavailable', message: 'too late' });
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored(2, 3);
  vi.advanceTimersByTime(TIMEOUT / 2);
  await late;
  expect(queue.length).toBe(2);
  vi.advanceTimersByTime(TIMEOUT / 2);
  expect(queue.length).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([10_000, 2])('at most %d calls wait', async (lengthLimit) => {
  const limit = lengthLimit === 10_000 ? {} : { lengthLimit };
  queue = new CallQueue({ timeout: TIMEOUT, full: 'too many calls', late: 'too late', ...limit });
  for (let item = 0; item < lengthLimit; item++) addIgnored(item);
  await expect(queue.addCall(1)).rejects.toMatchObject({ code: 'overloaded', message: 'too many calls' });
  expect(itemsOf(queue.takeCalls(1))).toEqual([0]);
  addIgnored(1);
  expect(queue.length).toBe(lengthLimit);
});

test('a call that is past its deadline is never taken, even when the timer is late', async () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['performance'] });
  const late = expect(queue.addCall(1)).rejects.toMatchObject({ code: 'storage_unavailable' });
  vi.advanceTimersByTime(TIMEOUT - 1);
  addIgnored(2);
  vi.advanceTimersByTime(1);
  expect(itemsOf(queue.takeCalls(2))).toEqual([2]);
  await late;
});

test('the deadlines are watched by one timer', () => {
  addIgnored(...Array.from({ length: 100 }, (_, item) => item));
  queue.putBackCalls(queue.takeCalls(50));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(TIMEOUT);
  expect([queue.length, vi.getTimerCount()]).toEqual([0, 0]);
});

test('calls that are put back are sent next, and are rejected at their old deadline', async () => {
  addIgnored(1, 2);
  const calls = queue.takeCalls(2);
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored(3);
  queue.putBackCalls(calls);
  expect(itemsOf(queue.takeCalls(2))).toEqual([1, 2]);
  queue.putBackCalls(calls);
  vi.advanceTimersByTime(TIMEOUT / 2);
  expect(itemsOf(queue.takeCalls(3))).toEqual([3]);
  queue.putBackCalls(calls);
  expect(queue.length).toBe(0);
});

test('all calls can be rejected', async () => {
  const calls = [queue.addCall(1), queue.addCall(2)];
  const error = new AnimalStoreError('storage_unavailable', 'closed');
  queue.rejectCalls(error);
  for (const call of calls) await expect(call).rejects.toBe(error);
  expect(queue.length).toBe(0);
});

test('calls that come back when no timer runs are rejected at their deadlines', () => {
  addIgnored(1);
  queue.takeCalls(1);
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored(2);
  const second = queue.takeCalls(1);
  vi.advanceTimersByTime(TIMEOUT / 2);
  queue.putBackCalls(second);
  vi.advanceTimersByTime(TIMEOUT / 2);
  expect([queue.length, vi.getTimerCount()]).toEqual([0, 0]);
});

test('`onLate` is called only when calls are rejected at their deadline', () => {
  const onLate = vi.fn();
  queue = new CallQueue({ timeout: TIMEOUT, full: 'full', late: 'late', onLate });
  addIgnored(1);
  queue.putBackCalls(queue.takeCalls(1));
  vi.advanceTimersByTime(TIMEOUT - 1);
  expect(onLate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onLate).toHaveBeenCalledTimes(1);
});

test('the timer of the deadlines does not keep the process alive', () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  addIgnored(1);
  expect(timer.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
});

test('calls are queued where timers are numbers, as in a browser', async () => {
  vi.spyOn(globalThis, 'setTimeout').mockReturnValue(1 as never);
  const result = queue.addCall(1);
  queue.takeCalls(1)[0]?.resolve('found');
  expect(await result).toBe('found');
});

/** What a queue must do: the calls that wait, those that were taken in the last groups, and the outcome of each call. */
interface Model {
  now: number;
  waiting: ModelCall[];
  readonly taken: ModelCall[][];
  readonly outcomes: Map<number, string>;
}

interface ModelCall {
  readonly item: number;
  readonly deadline: number;
}

interface Real {
  readonly taken: QueuedCall<number, string>[][];
  readonly outcomes: Map<number, string>;
}

class Step implements fc.Command<Model, Real> {
  readonly #name: string;
  readonly #run: (model: Model, real: Real) => void;
  readonly #needsTaken: boolean;

  constructor(name: string, run: (model: Model, real: Real) => void, needsTaken = false) {
    this.#name = name;
    this.#run = run;
    this.#needsTaken = needsTaken;
  }

  check({ taken }: Readonly<Model>): boolean {
    return !this.#needsTaken || taken.length > 0;
  }

  run(model: Model, real: Real): void {
    this.#run(model, real);
    const isLate = ({ deadline }: ModelCall) => deadline <= model.now;
    for (const { item } of model.waiting.filter(isLate)) model.outcomes.set(item, 'too late');
    model.waiting = model.waiting.filter((call) => !isLate(call));
    expect(queue.length, this.#name).toBe(model.waiting.length);
  }

  toString(): string {
    return this.#name;
  }
}

const add = new Step('add', (model, real) => {
  const item = model.outcomes.size;
  model.outcomes.set(item, 'none');
  real.outcomes.set(item, 'none');
  model.waiting.push({ item, deadline: model.now + TIMEOUT });
  queue.addCall(item).then(
    (result) => real.outcomes.set(item, result),
    ({ message }) => real.outcomes.set(item, message),
  );
});
const take = (count: number) =>
  new Step(`take ${count}`, (model, real) => {
    const calls = queue.takeCalls(count);
    const expected = model.waiting.splice(0, count);
    expect(calls.map(({ item, deadline }) => ({ item, deadline }))).toEqual(expected);
    real.taken.push(calls);
    model.taken.push(expected);
  });
const answer = new Step(
  'answer',
  (model, real) => {
    for (const call of real.taken.pop() ?? []) call.resolve('stored');
    for (const { item } of model.taken.pop() ?? []) model.outcomes.set(item, 'stored');
  },
  true,
);
const putBack = new Step(
  'put back',
  (model, real) => {
    queue.putBackCalls(real.taken.pop() ?? []);
    model.waiting.unshift(...(model.taken.pop() ?? []));
  },
  true,
);
const wait = (time: number) =>
  new Step(`wait ${time} ms`, (model) => {
    vi.advanceTimersByTime(time);
    model.now += time;
  });

test('whatever happens to its calls, each is sent in the order of arrival, and never after its deadline', async () => {
  const steps = [
    fc.constant(add),
    fc.integer({ min: 1, max: 3 }).map(take),
    fc.constantFrom(answer, putBack),
    fc.integer({ min: 1, max: TIMEOUT }).map(wait),
  ];
  await fc.assert(
    fc
      .asyncProperty(fc.commands(steps, { maxCommands: 40 }), async (commands) => {
        const model: Model = { now: performance.now(), waiting: [], taken: [], outcomes: new Map() };
        const real: Real = { taken: [], outcomes: new Map() };
        fc.modelRun(() => ({ model, real }), commands);
        await vi.advanceTimersByTimeAsync(0);
        expect(real.outcomes).toEqual(model.outcomes);
      })
      .beforeEach(() => {
        vi.clearAllTimers();
        queue = new CallQueue({ timeout: TIMEOUT, full: 'too many calls', late: 'too late' });
      }),
    runs(300),
  );
});
