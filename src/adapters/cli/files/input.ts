import { once } from 'node:events';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { CommandError, reasonOf } from '../errors.ts';
import { ndjsonChunks } from './format.ts';
import { decompressed } from './gzip.ts';

export interface Input {
  readonly name: string;
  readonly stream: Readable;
  readonly descriptor: number | undefined;
  /** Returns the fraction that was read, if it is known. */
  readonly share: () => number | undefined;
}

const READ_SIZE = 64 * 1024;

/** Opens a file, or standard input if `file` is `-`. The stream is destroyed when `signal` is aborted. */
export async function openInput(file: string, stdin: Readable, signal: AbortSignal): Promise<Input> {
  const input = file === '-' ? standardInput(stdin, signal) : await openFile(file, signal);
  // Without an `error` listener, an error before the first read would end the process. `chunksOf` handles later errors.
  input.stream.on('error', () => {});
  return input;
}

export function chunksOf({ stream, name }: Input): AsyncGenerator<Uint8Array> {
  const chunks = (async function* () {
    try {
      yield* stream;
    } catch (error) {
      throw unreadable(name, error);
    }
  })();
  return ndjsonChunks(decompressed(chunks, name), name);
}

function standardInput(stdin: Readable, signal: AbortSignal): Input {
  const descriptor = 'fd' in stdin && typeof stdin.fd === 'number' ? stdin.fd : undefined;
  const stream = addAbortSignal(signal, stdin);
  return { name: 'standard input', stream, descriptor, share: () => undefined };
}

async function openFile(file: string, signal: AbortSignal): Promise<Input> {
  try {
    const there = await stat(file);
    if (there.isDirectory()) throw new Error('expected a file, got a directory');
    if (there.isFIFO()) return openFifo(file, signal);
    const stream = createReadStream(file, { highWaterMark: READ_SIZE, signal });
    const [descriptor] = (await once(stream, 'open')) as [number];
    const stats = fstatSync(descriptor);
    const size = stats.isFile() && stats.size > 0 ? stats.size : undefined;
    return { name: file, stream, descriptor, share: () => size && stream.bytesRead / size };
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Opens a named pipe as a socket: a blocking `open` would wait for a writer, and `signal` could not end this wait. */
function openFifo(file: string, signal: AbortSignal): Input {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stream = new Socket({ fd: descriptor, readable: true, writable: false, signal });
  return { name: file, stream, descriptor, share: () => undefined };
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`cannot read ${name}: ${reasonOf(error)}`);
}
