import { describe, expect, test } from 'vitest';
import { LINE_LIMIT, type Line, readLines } from '../../../src/adapters/cli/lines.ts';

async function linesOf(...chunks: readonly (string | Buffer)[]): Promise<Line[]> {
  const lines: Line[] = [];
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  for await (const batch of readLines(bytes)) lines.push(...batch);
  return lines;
}

async function textsOf(...chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const lines = await linesOf(...chunks);
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
  expect(lines.filter(({ fault }) => fault !== undefined)).toEqual([]);
  return lines.map(({ text }) => text);
}

describe('lines', () => {
  test('are the same, however the bytes are split into chunks', async () => {
    const bytes = Buffer.from('{"a":1}\n\n{"b":"é🐈"}\r\nlast');
    const expected = ['{"a":1}', '', '{"b":"é🐈"}\r', 'last'];
    expect(await textsOf(bytes)).toEqual(expected);
    for (let at = 0; at <= bytes.length; at++) {
      expect(await textsOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(expected);
    }
    expect(await textsOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
  });

  test('end with a line feed, which the last line may lack', async () => {
    expect(await textsOf()).toEqual([]);
    expect(await textsOf('')).toEqual([]);
    expect(await textsOf('a\nb\n')).toEqual(['a', 'b']);
    expect(await textsOf('a\nb')).toEqual(['a', 'b']);
    expect(await textsOf('\n')).toEqual(['']);
  });

  test('start after a byte order mark, which is kept anywhere else', async () => {
    expect(await textsOf('\ufeffa\n\ufeffb\n')).toEqual(['a', '\ufeffb']);
    expect(await textsOf('\ufeff\ufeffa\n')).toEqual(['\ufeffa']);
    const [first] = await linesOf(Buffer.concat([Buffer.from('\ufeffa\n'), Buffer.of(0xe9, 10)]));
    expect(first).toMatchObject({ number: 1, text: 'a', bytes: Buffer.from('\ufeffa\n') });
  });

  test('that are not UTF-8 are reported individually', async () => {
    const lines = await linesOf(
      Buffer.concat([Buffer.from('é\n'), Buffer.of(0xe9, 10), Buffer.from('ü\nz')]),
    );
    expect(lines).toMatchObject([
      { number: 1, text: 'é' },
      { number: 2, bytes: Buffer.of(0xe9, 10), fault: 'invalid UTF-8' },
      { number: 3, text: 'ü' },
      { number: 4, text: 'z' },
    ]);
  });
});

describe('a line that is too long', () => {
  const fault = 'longer than 16 KiB';

  test('differs from the longest valid line', async () => {
    const longest = 'x'.repeat(LINE_LIMIT);
    expect(await textsOf(`${longest}\nb\n`)).toEqual([longest, 'b']);
    const [long, next] = await linesOf(`${longest}x\nb\n`);
    expect(long).toMatchObject({ number: 1, bytes: Buffer.from(`${longest}x\n`), fault });
    expect(next).toMatchObject({ number: 2, text: 'b' });
    expect((await linesOf('é'.repeat(LINE_LIMIT / 2 + 1)))[0]).toMatchObject({ number: 1, fault });
  });

  test('can have any length: it comes in parts, of which the first has the reason', async () => {
    const chunk = 'é'.repeat(20_000);
    const chunks = ['a\n', ...Array.from({ length: 50 }, () => chunk), '\nb\n', chunk, chunk];
    const lines = await linesOf(...chunks);
    expect(Buffer.concat(lines.map(({ bytes }) => Buffer.from(bytes))).toString()).toBe(chunks.join(''));
    expect(lines.filter((line) => line.fault !== '').map((line) => [line.number, line.fault])).toEqual([
      [1, undefined],
      [2, fault],
      [3, undefined],
      [4, fault],
    ]);
    expect(lines.every(({ bytes }) => bytes.length <= chunk.length * 2)).toBe(true);
  });
});
