/** The lines of an input or of another store, from which an import reads pets. */

import { once } from 'node:events';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Pet } from '../../domain/pet.ts';
import { petJson } from '../../domain/pet-json.ts';
import type { Console } from './console.ts';
import { CommandError, reasonOf } from './errors.ts';
import type { Line } from './lines.ts';

export interface Input {
  readonly name: string;
  readonly stream: Readable;
  /** Returns the fraction that was read, if it is known. */
  readonly share?: () => number | undefined;
}

const READ_SIZE = 64 * 1024;

/** Opens a file, or standard input if `file` is `-`. The stream is destroyed when `signal` is aborted. */
export async function openInput(file: string, stdin: Console['stdin'], signal: AbortSignal): Promise<Input> {
  const input =
    file === '-'
      ? { name: 'standard input', stream: addAbortSignal(signal, stdin) }
      : await openFile(file, signal);
  // Without an `error` listener, an error before the first read would end the process. `chunksOf` handles later errors.
  input.stream.on('error', () => {});
  return input;
}

export async function* chunksOf(stream: Readable, name: string): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw unreadable(name, error);
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

async function openFile(file: string, signal: AbortSignal): Promise<Input> {
  try {
    const there = await stat(file);
    if (there.isDirectory()) throw new Error('expected a file, got a directory');
    if (there.isFIFO()) return openFifo(file, signal);
    const stream = createReadStream(file, { highWaterMark: READ_SIZE, signal });
    const [descriptor] = (await once(stream, 'open')) as [number];
    const { size } = fstatSync(descriptor);
    return { name: file, stream, share: () => (size > 0 ? stream.bytesRead / size : undefined) };
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Opens a named pipe as a socket: a blocking `open` would wait for a writer, and `signal` could not end this wait. */
function openFifo(file: string, signal: AbortSignal): Input {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stream = new Socket({ fd: descriptor, readable: true, writable: false, signal });
  return { name: file, stream };
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`cannot read ${name}: ${reasonOf(error)}`);
}
