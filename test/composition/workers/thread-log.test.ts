import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BUFFER_LIMIT } from '../../../src/adapters/log/index.ts';
import { type LogLines, ThreadLog } from '../../../src/composition/workers/thread-log.ts';

test('the lines of one iteration of the event loop are one message', async () => {
  const sent: LogLines[] = [];
  const log = new ThreadLog(new Int32Array(new SharedArrayBuffer(4)), (lines) => sent.push(lines));
  log.write('a\n');
  log.write('b\n');
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual([{ lines: 'a\nb\n', dropped: 0 }]);
  log.flush();
  expect(sent).toHaveLength(1);
});

test('lines are dropped and counted while too many characters of all threads are on their way', async () => {
  const underway = new Int32Array(new SharedArrayBuffer(4));
  const sent: LogLines[] = [];
  const [first, second] = [
    new ThreadLog(underway, (lines) => sent.push(lines)),
    new ThreadLog(underway, () => {}),
  ];
  second.write('x'.repeat(BUFFER_LIMIT - 2));
  second.flush();
  first.write('a\n');
  first.write('b\n');
  first.write('c\n');
  await nextTurn();
  expect(sent).toEqual([{ lines: 'a\n', dropped: 2 }]);
  Atomics.store(underway, 0, 0);
  first.write('d\n');
  await nextTurn();
  expect(sent.slice(1)).toEqual([{ lines: 'd\n', dropped: 0 }]);
});
