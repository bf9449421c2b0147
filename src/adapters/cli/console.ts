/** The standard streams that the commands use. */

import { fstatSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { OutputError } from './errors.ts';
import { visibleLines } from './visible.ts';

/** Commands write results to standard output, and messages, progress and errors to standard error. */
export interface Console {
  /**
   * Writes a text to standard output, with its control characters escaped. Resolves when the operating system has
   * accepted the text, which takes long if the reader of a pipe is slow. Rejects with an {@link OutputError} when the
   * text cannot be written.
   */
  readonly out: (text: string) => Promise<void>;
  /** Writes a text to standard error, escaped in the same way as by `out`. A failure to write is ignored. */
  readonly err: (text: string) => void;
  /**
   * Like `out`, but writes the text unchanged, for example with terminal styles. The caller must escape text from
   * outside if a terminal shows it.
   */
  readonly outRaw: (text: string) => Promise<void>;
  /** Like `err`, but writes the text unchanged, for example with terminal styles. */
  readonly errRaw: (text: string) => void;
  readonly stdin: Readable;
  /** The file descriptor of standard output, if it has one. */
  readonly outDescriptor: number | undefined;
  readonly outScreen: Screen;
  readonly errScreen: Screen;
}

/** The properties of the terminal that shows a stream, if there is one. */
export interface Screen {
  /** The width in characters, or `undefined` if the stream is not a terminal. */
  readonly columns: number | undefined;
  readonly hasColours: boolean;
}

/** A writable stream, with additional properties if it is a terminal or has a file descriptor. */
export type Output = Writable &
  Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>> & { readonly fd?: number };

export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

export function consoleOf({ stdin, stdout, stderr }: Streams): Console {
  // Without an `error` listener, a failed write would end the process. `out` rejects with the error; `err` ignores it.
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

/**
 * Repeats the write until all bytes are written. `process.stdout` is not used for a regular file, because it reports
 * success even if the disk had room for only a part of the bytes.
 */
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

/**
 * Returns the properties of the terminal. The result of `hasColors` depends on NO_COLOR and on the type of the
 * terminal. A terminal of unknown width reports 0 columns, and 80 columns are assumed.
 */
function screenOf(stream: Output): Screen {
  return {
    get columns() {
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
    hasColours: stream.isTTY === true && stream.hasColors?.() === true,
  };
}
