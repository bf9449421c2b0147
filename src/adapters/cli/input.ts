/** Reads the lines of an input or of another store. Each line keeps its bytes, so that a refused line can be written unchanged. */

import { isUtf8 } from 'node:buffer';
import { constants, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Pet } from '../../domain/pet.ts';
import { petJson } from '../../domain/pet-json.ts';
import { CommandError } from './errors.ts';

/** The maximum length of a line in bytes, equal to the maximum length of a request body. */
export const LINE_LIMIT: number = 16 * 1024;

const NEWLINE = 10;

export interface Line {
  /** Starts at 1. */
  readonly number: number;
  /** The bytes with the line feed, which the last line may lack. A line that is too long can be yielded in several parts. */
  readonly bytes: string | Uint8Array;
  /** The text without a byte order mark; empty if the line is invalid. */
  readonly text: string;
  /** The reason why the line is invalid: too long, or not UTF-8. It is `''` in the later parts of a line that is too long. */
  readonly fault?: string;
}

/** Opens a file, or standard input if `file` is `-`. The stream is destroyed when `signal` is aborted. */
export async function openInput(file: string, stdin: Readable, signal: AbortSignal): Promise<Readable> {
  const stream =
    file === '-' ? stdin : await openFile(file).catch((error) => Promise.reject(unreadable(file, error)));
  // Without an `error` listener, an error before the first read would end the process. `chunksOf` handles later errors.
  return addAbortSignal(signal, stream).on('error', () => {});
}

export async function* chunksOf(stream: Readable, file: string): AsyncGenerator<Buffer> {
  try {
    let isStart = true;
    for await (const chunk of stream) {
      if (isStart && chunk.toString('latin1', 0, 15) === 'SQLite format 3')
        throw new Error(
          `expected lines of JSON, got a SQLite database: import sqlite:${file === '-' ? 'FILE' : file}`,
        );
      isStart = false;
      yield chunk;
    }
  } catch (error) {
    throw unreadable(file === '-' ? 'standard input' : file, error);
  }
}

/** Yields the lines that an export of these pets would contain. */
export async function* linesOfPets(batches: AsyncIterable<readonly Pet[]>): AsyncGenerator<readonly Line[]> {
  let number = 0;
  for await (const pets of batches) {
    yield pets.map((pet) => {
      number += 1;
      const text = petJson(pet);
      return { number, text, bytes: `${text}\n` };
    });
  }
}

/** Opens a file. Opens a named pipe without blocking, because a blocking `open` would wait for a writer, even after a signal. */
async function openFile(file: string): Promise<Readable> {
  const there = await stat(file);
  if (there.isDirectory()) throw new Error('expected a file, got a directory');
  if (!there.isFIFO()) return (await open(file)).createReadStream();
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Returns an error with `name` and the reason, but without the system call and the path that Node.js adds to the reason. */
function unreadable(name: string, error: unknown): CommandError {
  const reason = (error as Error).message.replace(/, \w+(?: '.*')?$/s, '');
  return new CommandError(`cannot read ${name}: ${reason}`, { cause: error });
}

/** For each chunk, yields the lines that end in it. A line above {@link LINE_LIMIT} can be yielded in parts. */
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
  return { number, bytes, text: bytes.toString('utf8', 0, length).replace(/^\ufeff/, '') };
}
