/** What an import reads. */

import { once } from 'node:events';
import { constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Console } from './console.ts';
import { CommandError } from './errors.ts';

export interface Input {
  readonly name: string;
  readonly stream: Readable;
  /** `undefined` for a stream without one. */
  readonly descriptor: number | undefined;
  /** In bytes; `undefined` when nobody knows. */
  readonly size: number | undefined;
}

const READ_SIZE = 64 * 1024;

/** Opens a file, or standard input for `-`. The signal ends the stream. */
export async function openInput(file: string, console: Console, signal: AbortSignal): Promise<Input> {
  const input = await open(file, console, signal);
  // Whoever reads learns of an error; this is for one that comes before.
  input.stream.on('error', () => {});
  return input;
}

async function open(file: string, { stdin }: Console, signal: AbortSignal): Promise<Input> {
  if (file === '-') {
    const descriptor = 'fd' in stdin && typeof stdin.fd === 'number' ? stdin.fd : undefined;
    return { name: 'standard input', stream: addAbortSignal(signal, stdin), descriptor, size: undefined };
  }
  try {
    if ((await stat(file)).isFIFO()) return { name: file, ...openFifo(file, signal), size: undefined };
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

/** The chunks of an input. What fails names it. */
export async function* chunksOf({ stream, name }: Input): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** To open one waits for a writer, in a thread that no signal can end: so this does not wait, but the socket does. */
function openFifo(file: string, signal: AbortSignal) {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return { stream: new Socket({ fd: descriptor, readable: true, writable: false, signal }), descriptor };
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`cannot read ${name}: ${(error as Error).message}`);
}
