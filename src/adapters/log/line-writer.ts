/** Writes the lines of a log to a file descriptor that may be stuck, full or closed. It never blocks the event loop. */

import { writeSync } from 'node:fs';

/** How much is buffered for a slow reader, in bytes. A character counts as one: nearly all log lines are ASCII. */
export const BUFFER_LIMIT: number = 1024 * 1024;

/** Milliseconds until the next try. A full pipe may be read soon, a full disk stays full for a while. */
const RETRY_INTERVAL = 10;
const RETRY_INTERVAL_AFTER_ERROR = 1000;

export class LineWriter {
  readonly #descriptor: number;
  readonly #droppedLine: (count: number) => string;
  #lines = '';
  /** The part of earlier lines that the last write did not take. */
  #rest: Buffer | undefined;
  #dropped = 0;
  #isScheduled = false;

  /**
   * @param descriptor must be non-blocking, unless it is a regular file
   * @param droppedLine makes the line that is written in the place of dropped lines
   */
  constructor(descriptor: number, droppedLine: (count: number) => string) {
    this.#descriptor = descriptor;
    this.#droppedLine = droppedLine;
  }

  /**
   * The lines of one turn of the event loop share a write, because a write costs more than making a line. Lines that
   * exceed the buffer are dropped until the whole buffer has been written, so that a gap is in one place.
   */
  write(line: string): void {
    const buffered = this.#lines.length + (this.#rest?.length ?? 0);
    if (this.#dropped > 0 || buffered + line.length > BUFFER_LIMIT) this.#dropped += 1;
    else this.#lines += line;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#flush);
    }
  }

  /** Writes the whole buffer before it returns. Waits for a reader that does not read until the timeout. */
  end(timeout: number): void {
    const deadline = performance.now() + timeout;
    while (this.#drain() === 'EAGAIN' && performance.now() < deadline) sleep(RETRY_INTERVAL);
  }

  /** The timer does not keep the event loop alive, so a buffer that nobody reads does not delay the exit. */
  readonly #flush = (): void => {
    const fault = this.#drain();
    this.#isScheduled = fault !== undefined;
    if (fault === undefined) return;
    setTimeout(this.#flush, fault === 'EAGAIN' ? RETRY_INTERVAL : RETRY_INTERVAL_AFTER_ERROR).unref();
  };

  /** Writes until the buffer is empty, or returns the code of the error that is in the way. */
  #drain(): string | undefined {
    for (;;) {
      const bytes = this.#rest ?? this.#next();
      if (bytes.length === 0) return undefined;
      this.#rest = bytes;
      try {
        const written = writeSync(this.#descriptor, bytes);
        this.#rest = written < bytes.length ? bytes.subarray(written) : undefined;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? String(error);
      }
    }
  }

  #next(): Buffer {
    if (this.#lines === '' && this.#dropped > 0) {
      this.#lines = this.#droppedLine(this.#dropped);
      this.#dropped = 0;
    }
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    return bytes;
  }
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
