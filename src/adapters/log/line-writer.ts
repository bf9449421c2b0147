import { writeSync } from 'node:fs';

/** The maximum size of the buffer in bytes. A character is counted as one byte, because most log lines are ASCII. */
export const BUFFER_LIMIT: number = 1024 * 1024;

/** The intervals between attempts to write to a full pipe, and after any other error, in milliseconds. */
const RETRY_INTERVAL = 10;
const RETRY_INTERVAL_AFTER_ERROR = 1000;

/**
 * Writes log lines to a file descriptor. At the exit of the process, the destination of pino waits forever for a full
 * disk or pipe. After a pipe was closed, it never writes again, even if the pipe has a new reader.
 */
export class LineWriter {
  readonly #descriptor: number;
  readonly #droppedLine: (count: number) => string;
  #lines = '';
  /** The lines whose write has begun, without the bytes that are written. */
  #rest: Buffer = Buffer.alloc(0);
  #dropped = 0;
  #isScheduled = false;

  /**
   * @param descriptor a file descriptor that is in non-blocking mode, or belongs to a regular file
   * @param droppedLine returns a line which says that `count` lines were dropped
   */
  constructor(descriptor: number, droppedLine: (count: number) => string) {
    this.#descriptor = descriptor;
    this.#droppedLine = droppedLine;
  }

  /**
   * Buffers a line. One system call writes all lines of one iteration of the event loop. When the buffer is full, new
   * lines are dropped until it is empty, so that the log has only one gap.
   */
  write(line: string): void {
    const length = this.#rest.length + this.#lines.length + line.length;
    if (this.#dropped > 0 || length > BUFFER_LIMIT) this.#dropped += 1;
    else this.#lines += line;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  /** Writes the whole buffer synchronously. Waits for the reader of a full pipe for at most `timeout` milliseconds. */
  end(timeout: number): void {
    const deadline = performance.now() + timeout;
    while (this.#drain() === 'EAGAIN' && performance.now() < deadline) sleep(RETRY_INTERVAL);
  }

  readonly #flush = (): void => {
    const fault = this.#drain();
    this.#isScheduled = fault !== undefined;
    if (fault === undefined) return;
    setTimeout(this.#flush, fault === 'EAGAIN' ? RETRY_INTERVAL : RETRY_INTERVAL_AFTER_ERROR).unref();
  };

  /** Writes until the buffer is empty. Returns the error code if a write fails. */
  #drain(): string | undefined {
    try {
      for (;;) {
        if (this.#rest.length === 0) this.#rest = this.#takeLines();
        if (this.#rest.length === 0) return undefined;
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      }
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }

  #takeLines(): Buffer {
    if (this.#lines === '' && this.#dropped > 0) {
      this.#lines = this.#droppedLine(this.#dropped);
      this.#dropped = 0;
    }
    const lines = Buffer.from(this.#lines);
    this.#lines = '';
    return lines;
  }
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
