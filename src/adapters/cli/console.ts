/** The streams of the process: results go to standard output, and messages, progress and errors to standard error. */

import { once } from 'node:events';
import { fstatSync, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { visible, visibleLines } from '../../domain/visible.ts';
import { CommandError, isBrokenPipe, OutputError } from './errors.ts';

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
  /** The file descriptor of standard output, or `undefined` if standard output has none. */
  readonly outDescriptor: number | undefined;
  /** Returns the width of standard output in characters, or `undefined` if it is not a terminal. */
  readonly outColumns: () => number | undefined;
}

type Output = Writable & { readonly fd?: number; readonly isTTY?: boolean; readonly columns?: number };

export function consoleOf({
  stdin,
  stdout,
  stderr,
}: Pick<Console, 'stdin' | 'stderr'> & { readonly stdout: Output }): Console {
  // Without a listener, a failed write would end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const outRaw = writerTo(stdout);
  const out = (text: string) => outRaw(visibleLines(text));
  return {
    out,
    outData: (data) => (stdout.isTTY ? out(Buffer.from(data).toString()) : outRaw(data)),
    err: (text) => void stderr.write(visibleLines(text)),
    stdin,
    stderr,
    outDescriptor: stdout.fd,
    // A terminal of unknown width reports 0 columns.
    outColumns: () => (stdout.isTTY ? stdout.columns || 80 : undefined),
  };
}

/** A regular file is written without the stream, which would report success for a part of the bytes on a full disk. */
function writerTo(stream: Output): Write {
  const { fd } = stream;
  const file = fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
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

/** Whether standard output is the null device. If standard output is closed, Node.js opens the null device instead. */
export function discardsOutput({ outDescriptor }: Console): boolean {
  if (outDescriptor === undefined) return false;
  const device = statSync(devNull, { throwIfNoEntry: false });
  const stats = fstatSync(outDescriptor);
  return device !== undefined && stats.isCharacterDevice() && stats.rdev === device.rdev;
}

/** The result of a completed command. */
export interface Result {
  /** The start of a sentence, such as `imported 2 pets`. */
  readonly done: string;
  /** The end of the sentence, such as ` in 3.9 s`. */
  readonly details?: string;
  /** The result for `--json`. */
  readonly members: object;
}

export function resultText({ done, details = '', members }: Result, json = false): string {
  const sentence = visible(`${done.charAt(0).toUpperCase()}${done.slice(1)}${details}.`);
  return `${json ? JSON.stringify(members) : sentence}\n`;
}

/** Prints a result. If it cannot be written, the error says what was done nevertheless. */
export async function printResult(console: Console, result: Result, json?: boolean): Promise<void> {
  await console.out(resultText(result, json)).catch((error: Error) => {
    throw isBrokenPipe(error) ? error : new CommandError(`${result.done}, but ${error.message}`);
  });
}

/**
 * Calls a work with a function that writes data. The work ends quietly when the reader of standard output has gone. It ends
 * when `signal` is aborted, even if the reader has stalled, and then fails with `outcome`, if there is one.
 */
export async function writeLong(
  { console, signal }: { readonly console: Console; readonly signal: AbortSignal },
  outcome: string | undefined,
  work: (write: Write) => Promise<void>,
): Promise<void> {
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  const interrupted = aborted.then(() => signal.throwIfAborted());
  interrupted.catch(() => {});
  try {
    await work((data) => Promise.race([interrupted, console.outData(data)]));
  } catch (error) {
    if (isBrokenPipe(error) || (signal.aborted && outcome === undefined)) return;
    throw signal.aborted ? new CommandError(`interrupted; ${outcome}`) : error;
  }
}
