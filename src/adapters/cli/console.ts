/** The three standard streams, as the commands see them. */

import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** Where a command writes: results to standard output, everything else to standard error. */
export interface Console {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly stdin: Readable;
  /** Standard output for what is too much for one text: a write calls back when there is room for more. */
  readonly stdout: Writable;
  readonly outScreen: Screen;
  readonly errScreen: Screen;
}

/** What a stream is shown on. */
export interface Screen {
  /** Its width in characters; `undefined` when it is no terminal. */
  readonly columns: number | undefined;
  readonly hasColours: boolean;
}

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

export function consoleOf({ stdin, stdout, stderr }: Streams): Console {
  return {
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    stdin,
    stdout,
    outScreen: screenOf(stdout),
    errScreen: screenOf(stderr),
  };
}

/** Node.js knows of NO_COLOR and of what the terminal can do. A terminal of width 0 does not know its own. */
function screenOf(stream: WriteStream): Screen {
  return {
    get columns() {
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
    hasColours: stream.isTTY === true && stream.hasColors(),
  };
}
