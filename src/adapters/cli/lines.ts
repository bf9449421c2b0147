/** Splits bytes into lines, and keeps the bytes of each line, so that a refused line can be written unchanged. */

import { isUtf8 } from 'node:buffer';

/** The maximum length of a line in bytes, equal to the maximum length of a request body. */
export const LINE_LIMIT: number = 16 * 1024;

const NEWLINE = 10;

export interface Line {
  /** Starts at 1. */
  readonly number: number;
  /** The bytes with the line feed, which the last line may lack. A line that is too long comes in several parts. */
  readonly bytes: string | Uint8Array;
  /** The text, unless the line is invalid. */
  readonly text: string;
  /** The reason why the line is invalid: too long, or not UTF-8. It is `''` for the other parts of a line. */
  readonly fault?: string;
}

/** For each chunk, yields the lines, or parts of a line, that end in that chunk. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 1;
  let isPart = false;
  const lineOf = (bytes: Buffer): Line => {
    const line = isPart ? { number, bytes, text: '', fault: '' } : validated(number, bytes);
    isPart = bytes.at(-1) !== NEWLINE;
    if (!isPart) number += 1;
    return line;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(lineOf(bytes.subarray(start, end + 1)));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LINE_LIMIT) {
      lines.push(lineOf(rest));
      rest = Buffer.alloc(0);
    }
    yield lines;
  }
  if (rest.length > 0) yield [lineOf(rest)];
}

function validated(number: number, bytes: Buffer): Line {
  const length = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  if (length > LINE_LIMIT) return { number, bytes, text: '', fault: `longer than ${LINE_LIMIT / 1024} KiB` };
  if (!isUtf8(bytes)) return { number, bytes, text: '', fault: 'invalid UTF-8' };
  return { number, bytes, text: bytes.toString('utf8', 0, length) };
}
