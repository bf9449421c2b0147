import { fstatSync, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { visible, visibleLines } from '../../../domain/visible.ts';
import { CommandError, isBrokenPipe, OutputError } from '../errors.ts';

/** Commands write results to standard output, and messages, progress and errors to standard error. */
export interface Console {
  /** Writes a text, escaped by `visibleLines`. Resolves when the operating system has accepted it. */
  readonly out: (text: string) => Promise<void>;
  /** Writes a text, escaped by `visibleLines`. Ignores a failed write. */
  readonly err: (text: string) => void;
  /** Like `out`, but escapes nothing. */
  readonly outRaw: (text: string | Uint8Array) => Promise<void>;
  /** Like `err`, but escapes nothing. */
  readonly errRaw: (text: string) => void;
  readonly stdin: Readable;
  /** The file descriptor of standard output, or `undefined` if standard output has none. */
  readonly outDescriptor: number | undefined;
  readonly outScreen: Screen;
  readonly errScreen: Screen;
}

export interface Screen {
  /** The width in characters, or `undefined` if the stream is not a terminal. */
  readonly columns: number | undefined;
  readonly hasColours: boolean;
}

export function styled(style: 'bold' | 'dim' | 'green', text: string, { hasColours }: Screen): string {
  return hasColours ? styleText(style, text, { validateStream: false }) : text;
}

type Output = Writable &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>> & { readonly fd?: number };

type Streams = Pick<Console, 'stdin'> & Readonly<Record<'stdout' | 'stderr', Output>>;

export function consoleOf({ stdin, stdout, stderr }: Streams): Console {
  // Without a listener, a failed write would end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const outRaw = writerTo(stdout);
  const errRaw = (text: string): void => {
    stderr.write(text);
  };
  return {
    out: (text) => outRaw(visibleLines(text)),
    err: (text) => errRaw(visibleLines(text)),
    outRaw,
    errRaw,
    stdin,
    outDescriptor: stdout.fd,
    outScreen: screenOf(stdout),
    errScreen: screenOf(stderr),
  };
}

/** A regular file is written without the stream, which would report success for a part of the bytes on a full disk. */
function writerTo(stream: Output): Console['outRaw'] {
  const { fd } = stream;
  const file = fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
  return async (text) => {
    try {
      if (file !== undefined) return writeFileSync(file, text);
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw new OutputError(error as Error);
    }
  };
}

/** Whether a file is the null device. If standard output is closed, Node.js opens the null device instead. */
export function isNullDevice(descriptor: number | undefined): boolean {
  if (descriptor === undefined) return false;
  const device = statSync(devNull, { throwIfNoEntry: false });
  const stats = fstatSync(descriptor);
  return device !== undefined && stats.isCharacterDevice() && stats.rdev === device.rdev;
}

/** `hasColors` considers NO_COLOR. A terminal of unknown width reports 0 columns, and is treated as 80 columns wide. */
function screenOf(stream: Output): Screen {
  return {
    get columns() {
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
    hasColours: stream.isTTY === true && stream.hasColors?.() === true,
  };
}

interface Result {
  /** The start of a sentence, such as `imported 2 pets`. */
  readonly done: string;
  /** The end of the sentence, such as ` in 3.9 s`. */
  readonly details?: string;
  readonly members: object;
}

/** Prints the result of a completed command. If it cannot be written, the error says what was done nevertheless. */
export async function printResult(
  console: Console,
  { done, details = '', members }: Result,
  json = false,
): Promise<void> {
  const sentence = visible(`${done.charAt(0).toUpperCase()}${done.slice(1)}${details}.`);
  try {
    await console.out(`${json ? JSON.stringify(members) : sentence}\n`);
  } catch (error) {
    if (!(error instanceof OutputError) || isBrokenPipe(error)) throw error;
    throw new CommandError(`${done}, but ${error.message}`);
  }
}
