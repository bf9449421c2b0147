/** The three standard streams, as the commands see them. */

import { fstatSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { OutputError } from './errors.ts';
import { visibleLines } from './visible.ts';

/** Where a command writes: results to standard output, everything else to standard error. */
export interface Console {
  /**
   * Prints a result, with escapes for what a terminal would obey. Resolves once it is handed over, however slowly it is
   * read; rejects with an {@link OutputError} when it cannot be written.
   */
  readonly out: (text: string) => Promise<void>;
  /** Tells about anything else, escaped in the same way. When that fails, there is nobody left to tell. */
  readonly err: (text: string) => void;
  /** Like `out` for a text with styles or control codes of the program's own; the caller escapes the rest of it. */
  readonly outRaw: (text: string) => Promise<void>;
  /** Like `err`, in the same way. */
  readonly errRaw: (text: string) => void;
  readonly stdin: Readable;
  /** The descriptor of standard output, where it has one. */
  readonly outDescriptor: number | undefined;
  readonly outScreen: Screen;
  readonly errScreen: Screen;
}

/** What a stream is shown on. */
export interface Screen {
  /** Its width in characters; `undefined` when it is no terminal. */
  readonly columns: number | undefined;
  readonly hasColours: boolean;
}

/** A stream that may be a terminal or a file. */
export type Output = Writable &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>> & { readonly fd?: number };

export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

export function consoleOf({ stdin, stdout, stderr }: Streams): Console {
  // Each write tells how it ended.
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

function writerTo(stream: Output): (text: string) => Promise<void> {
  const { fd } = stream;
  const write = fd !== undefined && fstatSync(fd).isFile() ? writeToFile(fd) : writeToStream(stream);
  return async (text) => {
    try {
      await write(text);
    } catch (error) {
      throw new OutputError(error as Error);
    }
  };
}

/** The stream that Node.js makes of a file counts a write as done when only a part of it fitted on the disk. */
function writeToFile(descriptor: number) {
  return async (text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  };
}

function writeToStream(stream: Writable) {
  return (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}

/** Node.js knows of NO_COLOR and of what the terminal can do. A terminal of width 0 does not know its own. */
function screenOf(stream: Output): Screen {
  return {
    get columns() {
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
    hasColours: stream.isTTY === true && stream.hasColors?.() === true,
  };
}
