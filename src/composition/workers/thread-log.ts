import { BUFFER_LIMIT, type DestinationStream } from '../../adapters/log/index.ts';

/** Log lines of one iteration of the event loop. */
export interface LogLines {
  readonly lines: string;
  /** The number of lines that were dropped before these lines, because the main thread is too slow. */
  readonly dropped: number;
}

/**
 * The log of a thread, whose lines the main thread writes. The number of characters on their way to the main thread is in
 * shared memory, and limits the lines of all threads together.
 */
export class ThreadLog implements DestinationStream {
  readonly #underway: Int32Array<SharedArrayBuffer>;
  readonly #send: (lines: LogLines) => void;
  #lines = '';
  #dropped = 0;
  #isScheduled = false;

  constructor(underway: Int32Array<SharedArrayBuffer>, send: (lines: LogLines) => void) {
    this.#underway = underway;
    this.#send = send;
  }

  write(line: string): void {
    const length = Atomics.load(this.#underway, 0) + this.#lines.length + line.length;
    if (length > BUFFER_LIMIT) this.#dropped += 1;
    else this.#lines += line;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#lines === '' && this.#dropped === 0) return;
    Atomics.add(this.#underway, 0, this.#lines.length);
    this.#send({ lines: this.#lines, dropped: this.#dropped });
    this.#lines = '';
    this.#dropped = 0;
  }
}
