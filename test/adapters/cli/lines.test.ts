import { expect, test } from 'vitest';
import { LINE_LIMIT, type Line, readLines } from '../../../src/adapters/cli/input.ts';

const TOO_LONG = 'longer than 16 KiB';

async function linesOf(...chunks: readonly (string | Buffer)[]): Promise<Line[]> {
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const lines: Line[] = [];
  for await (const batch of readLines(bytes)) lines.push(...batch);
  return lines;
}

test('lines are the same, however the bytes are split into chunks', async () => {
  const bytes = Buffer.from('{"a":1}\n\n{"b":"é🐈"}\r\nlast');
  const expected = ['{"a":1}', '', '{"b":"é🐈"}\r', 'last'].map((text, index) => ({
    number: index + 1,
    text,
  }));
  for (let at = 0; at <= bytes.length; at++)
    expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).toMatchObject(expected);
  expect(await linesOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toMatchObject(expected);
});

test('a line that is too long differs from the longest valid line', async () => {
  const longest = 'x'.repeat(LINE_LIMIT);
  expect(await linesOf(`${longest}\n${longest}x\nb\n`)).toMatchObject([
    { number: 1, text: longest },
    { number: 2, bytes: Buffer.from(`${longest}x\n`), fault: TOO_LONG },
    { number: 3, text: 'b' },
  ]);
});
