/** The processor time of the reader of JSON. These tests are not among those of the mutants, whose code takes longer. */

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { memberReader } from '../../src/domain/json.ts';
import { runs } from '../support/property-runs.ts';

// `PROPERTY_RUNS` can make each test long.
vi.setConfig({ testTimeout: 600_000 });

const read = memberReader(['name', 'x']);

/** In milliseconds: less than 1 on a quiet machine. */
const LIMIT = 10;

/** A busy machine takes several times as much processor time, but not in each of so many measurements. */
const MEASUREMENTS = 50;

test('64 KiB take little processor time, whatever they contain', () => {
  const fragment = fc.constantFrom(
    ...String.raw`0 1e5 -1.5 12345678901234567890 true null "" "\u0061" "\\" [] {} [[]] {"a":0}`.split(' '),
    ...String.raw`{"":{"":[]}} {"name":"x"} "\n" é {"x":1e0}`.split(' '),
    '\n',
  );
  const start = fc.constantFrom('{"x":1e0,"y":[', '{"name":[', '[', '{"name":"', '{', ' ');
  const name = fc.constantFrom('', '"x":', '"":', '"name":', '"n\\u0061me":', '"\\u0078":', 'different');
  const end = fc.constantFrom(']}', '"}', '}', ']', '', ',');
  const texts = fc.tuple(start, name, fc.array(fragment, { minLength: 1, maxLength: 4 }), end);
  fc.assert(
    fc.property(texts, ([first, member, fragments, last]) => {
      let text = first;
      for (let index = 0; text.length < 2 ** 16; index += 1) {
        const key = member === 'different' ? `"${index.toString(36)}":` : member;
        text += `${key}${fragments[index % fragments.length]},`;
      }
      text = text.slice(0, text.lastIndexOf(',')) + last;
      let least = Infinity;
      for (let count = 0; count < MEASUREMENTS && least >= LIMIT; count += 1) {
        least = Math.min(least, processorTimeOf(text));
      }
      expect(least, JSON.stringify(text.slice(0, 80))).toBeLessThan(LIMIT);
    }),
    runs(50),
  );
});

/** The milliseconds of a read, on average, because the processor time of a thread can be measured in large steps. */
function processorTimeOf(text: string): number {
  const before = process.threadCpuUsage();
  for (let count = 0; count < 10; count += 1) {
    try {
      read(text);
    } catch {}
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 10_000;
}
