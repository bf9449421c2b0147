import { expect, test } from 'vitest';
import { combineObservers } from '../../src/application/observers.ts';
import type { Observer } from '../../src/application/ports/observer.ts';
import { StorageFault } from '../../src/application/ports/storage-fault.ts';

/** An observer that records its calls under a name. It uses `this`, as a class does. */
class Recorder implements Observer {
  readonly calls: unknown[][] = [];

  onCommit(...values: unknown[]) {
    this.calls.push(['onCommit', ...values]);
  }

  onStorageState(...values: unknown[]) {
    this.calls.push(['onStorageState', ...values]);
  }

  onWarning(...values: unknown[]) {
    this.calls.push(['onWarning', ...values]);
  }
}

test('every observer is notified with the same values', () => {
  const recorders = [new Recorder(), new Recorder()];
  const observer = combineObservers(recorders);
  const fault = new StorageFault('disk_full', 'the disk is full');
  observer.onCommit?.({ writes: 2, ms: 3 });
  observer.onStorageState?.(fault);
  observer.onStorageState?.(undefined);
  observer.onWarning?.('the clock was set back');
  for (const { calls } of recorders) {
    expect(calls).toEqual([
      ['onCommit', { writes: 2, ms: 3 }],
      ['onStorageState', fault],
      ['onStorageState', undefined],
      ['onWarning', 'the clock was set back'],
    ]);
  }
});

test('the combination has only methods that an observer has', () => {
  expect(combineObservers([])).toEqual({});
  expect(combineObservers([{}, {}])).toEqual({});
  const calls: string[] = [];
  const observer = combineObservers([
    { onCommit: () => calls.push('first') },
    { onWarning: () => calls.push('warning') },
    { onCommit: () => calls.push('second') },
  ]);
  expect(Object.keys(observer).toSorted()).toEqual(['onCommit', 'onWarning']);
  observer.onCommit?.({ writes: 1, ms: 1 });
  expect(calls).toEqual(['first', 'second']);
});

test('an observer that throws affects neither the caller nor other observers', () => {
  const recorder = new Recorder();
  const failing: Observer = {
    onCommit() {
      throw new Error('the observer failed');
    },
  };
  combineObservers([failing, recorder, failing]).onCommit?.({ writes: 1, ms: 1 });
  expect(recorder.calls).toHaveLength(1);
});
