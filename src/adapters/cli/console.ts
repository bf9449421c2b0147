/** The streams of the process: results go to standard output, and messages, progress and errors to standard error. */

import { once } from 'node:events';
import { fstatSync, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { visible, visibleLines } from '../../domain/visible.ts';
import { OutputError, withOutcome } from './errors.ts';

type Write = (data: string | Uint8Array) => Promise<void>;

export interface Console {
  /** Writes a text to standard output, escaped by `visibleLines`. Resolves when the operating system has accepted it. */
  readonly out: (text: string) => Promise<void>;
  /** Writes data to standard output, unchanged unless a terminal would execute their control characters. */
  readonly outData: Write;
  /** Writes a text to standard error, escaped by `visibleLines`. Ignores a failed write. */
  readonly err: (text: string) => void;
  readonly stdin: Readable;
  readonly stderr: Output;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard output is the null device, which Node.js opens when standard output is closed. */
  readonly isDiscarded: boolean;
}

type Output = Writable & { readonly fd?: number; readonly isTTY?: boolean };

export function consoleOf({
  stdin,
  stdout,
  stderr,
}: Pick<Console, 'stdin' | 'stderr'> & { readonly stdout: Output }): Console {
  // Without a listener, a failed write would end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const { fd, isTTY: isTerminal = false } = stdout;
  const stats = fd === undefined ? undefined : fstatSync(fd);
  const outRaw = writerTo(stdout, stats?.isFile() ? fd : undefined);
  const out = (text: string) => outRaw(visibleLines(text));
  return {
    out,
    outData: (data) => (isTerminal ? out(Buffer.from(data).toString()) : outRaw(data)),
    err: (text) => void stderr.write(visibleLines(text)),
    stdin,
    stderr,
    isTerminal,
    isDiscarded:
      stats?.isCharacterDevice() === true &&
      stats.rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev,
  };
}

/** A regular file is written without the stream, which would report success for a part of the bytes on a full disk. */
function writerTo(stream: Output, file: number | undefined): Write {
  return async (data) => {
    try {
      if (file !== undefined) return writeFileSync(file, data);
      await new Promise<void>((resolve, reject) => {
        stream.write(data, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw new OutputError(error as Error);
    }
  };
}

/** Prints the result of a completed command, as a sentence or as JSON. If this fails, standard error has the sentence. */
export async function printResult(
  { out, err }: Pick<Console, 'out' | 'err'>,
  sentence: string,
  members: object,
  json?: boolean,
): Promise<void> {
  const text = `${visible(sentence)}\n`;
  await out(json ? `${JSON.stringify(members)}\n` : text).catch((error: Error) => {
    err(text);
    throw error;
  });
}

/** Calls a work with a function that writes data. The work ends when `signal` is aborted, even if the reader has stalled. */
export async function writeLong(
  { console, signal }: { readonly console: Console; readonly signal: AbortSignal },
  outcome: string,
  work: (write: Write) => Promise<void>,
): Promise<void> {
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  const interrupted = aborted.then(() => signal.throwIfAborted());
  interrupted.catch(() => {});
  const write: Write = (data) => Promise.race([interrupted, console.outData(data)]);
  await withOutcome(signal, outcome, work(write));
}
