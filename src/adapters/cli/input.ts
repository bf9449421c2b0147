/** The lines of an input or of another store, from which an import reads pets. */

import { constants, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Pet } from '../../domain/pet.ts';
import { petJson } from '../../domain/pet-json.ts';
import { CommandError } from './errors.ts';
import type { Line } from './lines.ts';

/** The first bytes of a SQLite file, such as a store or a backup. */
const SQLITE_MAGIC = Buffer.from('SQLite format 3\0');

/** Opens a file, or standard input if `file` is `-`. The stream is destroyed when `signal` is aborted. */
export async function openInput(file: string, stdin: Readable, signal: AbortSignal): Promise<Readable> {
  const stream =
    file === '-' ? stdin : await openFile(file).catch((error) => Promise.reject(unreadable(file, error)));
  // Without an `error` listener, an error before the first read would end the process. `chunksOf` handles later errors.
  return addAbortSignal(signal, stream).on('error', () => {});
}

export async function* chunksOf(stream: Readable, file: string): AsyncGenerator<Buffer> {
  let isFirst = true;
  try {
    for await (const chunk of stream) {
      if (isFirst && chunk.subarray(0, SQLITE_MAGIC.length).equals(SQLITE_MAGIC)) {
        throw new Error(`it is a SQLite file: import sqlite:${file === '-' ? 'FILE' : file}`);
      }
      isFirst = false;
      yield chunk;
    }
  } catch (error) {
    throw unreadable(file === '-' ? 'standard input' : file, error);
  }
}

/** The lines that an export of another store would have. */
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

/** Opens a named pipe as a socket: a blocking `open` would wait for a writer, and no signal could end this wait. */
async function openFile(file: string): Promise<Readable> {
  const there = await stat(file);
  if (there.isDirectory()) throw new Error('expected a file, got a directory');
  if (!there.isFIFO()) return (await open(file)).createReadStream();
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** The reason is the message of the error without its path. */
function unreadable(name: string, error: unknown): CommandError {
  const reason = (error as Error).message.replace(/, \w+(?: '.*')?$/s, '');
  return new CommandError(`cannot read ${name}: ${reason}`, { cause: error });
}
