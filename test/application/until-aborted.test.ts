import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { nextTurn } from '../../src/application/pause.ts';
import { iterateUntilAborted, untilAborted } from '../../src/application/until-aborted.ts';

const never = new Promise<never>(() => {});

test('a signal that was aborted before ends the wait at once', async () => {
  const reason = new Error('enough');
  await expect(untilAborted(never, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a call that has settled leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(5), signal)).toBe(5);
  const failure = new Error('no');
  await expect(untilAborted(Promise.reject(failure), signal)).rejects.toBe(failure);
  await nextTurn();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an iteration that ends early ends the source, which may lack the method for this', async () => {
  let isEnded = false;
  const source = (async function* () {
    try {
      yield 1;
    } finally {
      isEnded = true;
    }
  })();
  const endless = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1 }) }) };
  for (const values of [source, endless])
    for await (const value of iterateUntilAborted(values, undefined)) {
      expect(value).toBe(1);
      break;
    }
  expect(isEnded).toBe(true);
});
