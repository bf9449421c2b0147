import { isUtf8 } from 'node:buffer';

/** The maximum length of a line in bytes, equal to the maximum length of a request body. */
export const LINE_LIMIT: number = 64 * 1024;

/** How many characters of a line that is too long are shown. */
const EXCERPT = 200;

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export interface Line {
  /** Starts at 1. */
  readonly number: number;
  readonly text: string;
  /** The reason why the line is invalid: too long, or not UTF-8. */
  readonly fault?: string;
}

/** For each chunk, yields the lines that end in that chunk. The last line of the file does not need a line feed. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 1;
  const split = (bytes: Buffer): readonly Line[] => {
    const isMarked = number === 1 && bytes.indexOf(BYTE_ORDER_MARK) === 0;
    const lines = linesOf(isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes, number);
    number += lines.length;
    return lines;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1) {
      rest = keep(rest, bytes);
    } else {
      yield split(Buffer.concat([rest, bytes.subarray(0, end)]));
      rest = keep(Buffer.alloc(0), bytes.subarray(end + 1));
    }
  }
  if (rest.length > 0) yield split(rest);
}

/** Appends bytes to an incomplete line, but no more than are needed to detect a line that is too long. */
function keep(rest: Buffer, bytes: Buffer): Buffer {
  const room = LINE_LIMIT + 1 - rest.length;
  return room <= 0 ? rest : Buffer.concat([rest, bytes.subarray(0, room)]);
}

/** Valid UTF-8 is decoded in one call, which is faster. */
function linesOf(bytes: Buffer, first: number): readonly Line[] {
  const isValid = isUtf8(bytes);
  const texts = bytes.toString(isValid ? 'utf8' : 'latin1').split('\n');
  return texts.map((text, index) => {
    const number = first + index;
    if (!isValid) return lineOf(Buffer.from(text, 'latin1'), number);
    const isTooLong = text.length > LINE_LIMIT / 3 && Buffer.byteLength(text) > LINE_LIMIT;
    return isTooLong ? tooLong(text, number) : { number, text };
  });
}

function lineOf(bytes: Buffer, number: number): Line {
  const text = bytes.toString('utf8');
  if (bytes.length > LINE_LIMIT) return tooLong(text, number);
  return isUtf8(bytes) ? { number, text } : { number, text, fault: 'invalid UTF-8' };
}

function tooLong(text: string, number: number): Line {
  return {
    number,
    text: `${text.slice(0, EXCERPT)}…`,
    fault: `longer than ${LINE_LIMIT / 1024} KiB`,
  };
}
