import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fenced, joinObservers } from '../../src/application/observers.ts';
import { StorageFault } from '../../src/application/ports/storage-fault.ts';

const fail = () => {
  throw new Error('no');
};

test('every observer is notified with the same values, also when one throws', () => {
  const calls: unknown[][] = [];
  const recorder = {
    onCommit: (...values: unknown[]) => calls.push(values),
    onStorageState: (...values: unknown[]) => calls.push(values),
  };
  const observer = joinObservers([recorder, { onCommit: fail }, recorder]);
  using _ = vi.spyOn(console, 'error').mockReturnValue();
  const [commit, fault] = [{ writes: 2, ms: 3 }, new StorageFault('disk_full', 'the disk is full')];
  observer.onCommit?.(commit);
  observer.onStorageState?.(fault);
  expect(calls).toEqual([[commit], [commit], [fault], [fault]]);
});

test('the combination has only methods that an observer has, which are called as methods', () => {
  expect(joinObservers([{}, {}])).toEqual({});
  const names = ['onCommit', 'onStorageState', 'onWarning', 'onFailure'];
  const all = Object.fromEntries(names.map((name) => [name, () => {}]));
  expect(Object.keys(joinObservers([{}, all]))).toEqual(names);
  class Recorder {
    warnings: string[] = [];
    onWarning(message: string) {
      this.warnings.push(message);
    }
  }
  const recorder = new Recorder();
  const observer = joinObservers([recorder]);
  expect(Object.keys(observer)).toEqual(['onWarning']);
  observer.onWarning?.('the clock was set back');
  expect(recorder.warnings).toEqual(['the clock was set back']);
});

test('what the code of a host returns is returned, and what it throws or rejects with is discarded', async () => {
  expect([fenced(() => 5), fenced(() => null), fenced(fail)]).toEqual([5, null, undefined]);
  // Without a handler, this rejection would fail the test.
  const rejected = Promise.reject(new Error('no'));
  expect(fenced(() => rejected)).toBe(rejected);
  await nextTurn();
});

test('an observer that fails is reported once a minute for each method, to the observers that listen or on the console', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  using printed = vi.spyOn(console, 'error').mockReturnValue();
  const failing = { onCommit: fail, onWarning: () => Promise.reject(new Error('no')) as never };
  const onFailure = vi.fn();
  for (const observers of [[failing, { onFailure }, { onFailure: fail }], [failing]]) {
    expect(printed).not.toHaveBeenCalled();
    const observer = joinObservers(observers);
    for (const time of [0, 59_999, 1]) {
      vi.advanceTimersByTime(time);
      observer.onCommit?.({ writes: 1, ms: 1 });
    }
    observer.onWarning?.('a warning');
    await nextTurn();
  }
  const works = ['onCommit', 'onCommit', 'onWarning'].map((name) => `the observer method ${name}`);
  expect(onFailure.mock.calls).toEqual(works.map((work) => [work, new Error('no')]));
  expect(printed.mock.calls).toEqual(works.map((work) => [`animal-store: ${work} failed:`, new Error('no')]));
});
