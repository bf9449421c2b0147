/** Opens the input of an import. */

import { once } from 'node:events';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Console } from './console.ts';
import { CommandError, reasonOf } from './errors.ts';
import { decompressed } from './gzip.ts';

export interface Input {
  readonly name: string;
  readonly stream: Readable;
  /** The file descriptor of the stream, or `undefined` if the stream has none. */
  readonly descriptor: number | undefined;
  /** The size of the input in bytes, or `undefined` if the size is unknown. */
  readonly size: number | undefined;
}

const READ_SIZE = 64 * 1024;

/** Opens a file, or standard input if `file` is `-`. The stream is destroyed when `signal` is aborted. */
export async function openInput(file: string, console: Console, signal: AbortSignal): Promise<Input> {
  const input = await open(file, console, signal);
  // Without an `error` listener, an error before the first read would end the process. `chunksOf` handles later errors.
  input.stream.on('error', () => {});
  return input;
}

async function open(file: string, { stdin }: Console, signal: AbortSignal): Promise<Input> {
  if (file === '-') {
    const descriptor = 'fd' in stdin && typeof stdin.fd === 'number' ? stdin.fd : undefined;
    return { name: 'standard input', stream: addAbortSignal(signal, stdin), descriptor, size: undefined };
  }
  try {
    const there = await stat(file);
    if (there.isDirectory()) throw new Error('expected a file, got a directory');
    if (there.isFIFO()) return { name: file, ...openFifo(file, signal), size: undefined };
    const stream = createReadStream(file, { highWaterMark: READ_SIZE, signal });
    const [descriptor] = (await once(stream, 'open')) as [number];
    const stats = fstatSync(descriptor);
    return {
      name: file,
      stream,
      descriptor,
      size: stats.isFile() && stats.size > 0 ? stats.size : undefined,
    };
  } catch (error) {
    throw unreadable(file, error);
  }
}

/**
 * Yields the chunks of an input. An input that is compressed with gzip is decompressed. If reading fails, throws an
 * error whose message contains the name of the input.
 * @param onRead called with the number of bytes of each chunk that was read from the stream
 */
export function chunksOf(input: Input, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  return decompressed(rawChunksOf(input, onRead), input.name);
}

async function* rawChunksOf(
  { stream, name }: Input,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      onRead(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

/**
 * Opens a named pipe in non-blocking mode, as a socket. In blocking mode, `open` would wait for a program that writes
 * to the pipe, and `signal` could not end this wait. A read from the socket waits for such a program too, but ends when
 * `signal` is aborted.
 */
function openFifo(file: string, signal: AbortSignal) {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return { stream: new Socket({ fd: descriptor, readable: true, writable: false, signal }), descriptor };
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`cannot read ${name}: ${reasonOf(error)}`);
}
