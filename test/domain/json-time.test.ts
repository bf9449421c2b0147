/** The processor time of the reader of JSON. Mutation tests leave these tests out, because mutants take longer. */

import { expect, test } from 'vitest';
import { parseJson, readMembers } from '../../src/domain/json.ts';

const membersOf = (value: unknown) => readMembers(value, ['name', 'x']);
const read = (text: string) => membersOf(parseJson(text));

/** The size limit of a request body. */
const BODY_LIMIT = 16 * 1024;

/** In milliseconds. A busy machine takes several times as much, but not in each of so many measurements. */
const LIMIT = 20;
const MEASUREMENTS = 50;

test.each([
  ['numbers', '{"x":1e0,"y":[', '0,', '0]}'],
  ['one long number', '{"x":1', '0', '1.0e-1}'],
  ['objects', '{"x":1e0,"y":[', '{"x":1},', '0]}'],
  ['nested arrays', '{"x":1e0,"y":', '[', ''],
])('a body that is full of %s takes little processor time', (_, start, part, end) => {
  const text = start + part.repeat((BODY_LIMIT - start.length - end.length) / part.length) + end;
  let least = Infinity;
  for (let count = 0; count < MEASUREMENTS && least >= LIMIT; count += 1) {
    const before = process.threadCpuUsage();
    try {
      read(text);
    } catch {}
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  expect(least).toBeLessThan(LIMIT);
});
