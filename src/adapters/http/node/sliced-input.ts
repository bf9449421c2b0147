import type { Socket } from 'node:net';

/** The size of the first slice in bytes: a few requests. It is doubled while no request begins, such as in a body. */
const SLICE_SIZE = 256;

/** The number of sockets that get a further slice in an iteration of the event loop. */
const SLICES_PER_ITERATION = 2;

export interface Receiver {
  readonly socket: Socket;
  /** If false, what is received is discarded. */
  readonly isReading: boolean;
  /** The number of requests without a complete response. */
  readonly unfinished: number;
}

/**
 * The parser of Node.js reads from the operating system itself. It parses up to 64 KiB at once, which can be thousands of
 * requests, even if the socket is paused meanwhile: a hundred clients that send such pipelines, and read no response, would
 * block the event loop for seconds and take a gigabyte of memory. In slices, parsing is slower, but can be paused, and all
 * these clients together get few slices in an iteration of the event loop.
 */
export class SlicedInput {
  readonly #waiting: Socket[] = [];

  add(receiver: Receiver): void {
    const { socket } = receiver;
    // The parser is the listener of Node.js, which reads by itself until there is another one. With `readable` and `read`
    // instead, a socket that Node.js has paused looks like any other. A runtime that has no such listener parses as before.
    const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
    if (parse === undefined) return;
    socket.off('data', parse);
    socket.on('data', (chunk: Buffer) => {
      let start = 0;
      for (let size = SLICE_SIZE; start < chunk.length && receiver.isReading; ) {
        if (start > 0 && receiver.unfinished > 1 && !socket.isPaused()) this.#pause(socket);
        // Node.js resumes a socket that it has paused.
        if (socket.isPaused()) {
          socket.unshift(chunk.subarray(start));
          return;
        }
        const { unfinished } = receiver;
        parse.call(socket, chunk.subarray(start, start + size));
        start += size;
        size = receiver.unfinished > unfinished ? SLICE_SIZE : 2 * size;
      }
    });
  }

  #pause(socket: Socket): void {
    socket.pause();
    if (this.#waiting.push(socket) === 1) setImmediate(this.#resume);
  }

  readonly #resume = (): void => {
    for (const socket of this.#waiting.splice(0, SLICES_PER_ITERATION)) socket.resume();
    if (this.#waiting.length > 0) setImmediate(this.#resume);
  };
}
