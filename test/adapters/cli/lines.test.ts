import { expect, test } from 'vitest';
import { LINE_LIMIT, type Line, readLines } from '../../../src/adapters/cli/lines.ts';

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

test('lines end with a line feed, which the last line may lack', async () => {
  for (const [text, count] of [
    ['', 0],
    ['a\nb\n', 2],
    ['a\nb', 2],
    ['\n', 1],
  ] as const)
    expect(await linesOf(text)).toHaveLength(count);
});

test('lines that are not UTF-8 are reported individually', async () => {
  const lines = await linesOf(Buffer.concat([Buffer.from('é\n'), Buffer.of(0xe9, 10), Buffer.from('z')]));
  expect(lines).toMatchObject([
    { number: 1, text: 'é' },
    { number: 2, bytes: Buffer.of(0xe9, 10), fault: 'invalid UTF-8' },
    { number: 3, text: 'z' },
  ]);
});

test('a line that is too long differs from the longest valid line', async () => {
  const longest = 'x'.repeat(LINE_LIMIT);
  expect(await linesOf(`${longest}\n${longest}x\nb\n`)).toMatchObject([
    { number: 1, text: longest },
    { number: 2, bytes: Buffer.from(`${longest}x\n`), fault: TOO_LONG },
    { number: 3, text: 'b' },
  ]);
});

test('a line can have any length: it comes in parts, of which the first has the reason', async () => {
  const chunk = 'é'.repeat(20_000);
  const chunks = ['a\n', ...Array.from({ length: 50 }, () => chunk), '\nb\n', chunk, chunk];
  const lines = await linesOf(...chunks);
  expect(Buffer.concat(lines.map(({ bytes }) => Buffer.from(bytes))).toString()).toBe(chunks.join(''));
  expect(lines.filter((line) => line.fault !== '').map((line) => [line.number, line.fault])).toEqual([
    [1, undefined],
    [2, TOO_LONG],
    [3, undefined],
    [4, TOO_LONG],
  ]);
  expect(lines.every(({ bytes }) => bytes.length <= chunk.length * 2)).toBe(true);
});
