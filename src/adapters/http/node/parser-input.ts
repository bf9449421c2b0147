import type { Socket } from 'node:net';

/** The maximum size of a slice, in bytes. These bytes contain at most a few dozen requests. */
const SLICE_SIZE = 512;

/**
 * Controls when received bytes reach the HTTP parser of Node.js. At first, the parser reads from the handle of the socket,
 * which is the fastest way.
 *
 * The attack: clients send thousands of requests in one chunk, and do not read the responses (`unread-refusals` and
 * `unread-lists` of `test/faults/soak.faults.ts`). Node.js parses a whole chunk at once, even if the socket is paused
 * meanwhile. A hundred such clients would take gigabytes of memory, and block the event loop for seconds. Closing the
 * connections instead would leave clients without the responses to creates that were stored.
 */
export class ParserInput {
  readonly #socket: Socket;
  readonly #nextSlice: () => Promise<void>;
  readonly #mayParse: () => boolean;
  #isParsing = false;
  #isDirect = true;

  /** @param mayParse whether the parser may receive bytes. Must be false while Node.js has paused the parser */
  constructor(socket: Socket, nextSlice: () => Promise<void>, mayParse: () => boolean) {
    this.#socket = socket;
    this.#nextSlice = nextSlice;
    this.#mayParse = mayParse;
  }

  /**
   * From this call on, the parser receives slices. A stream that has a listener for `readable` emits `data`, which the
   * parser listens for, only when {@link parseSlices} reads. The other bytes wait in the stream and in the network. While
   * the parser is paused, nothing would start to read again, so the listener is added when Node.js has resumed it.
   */
  slice(): void {
    if (!this.#isDirect) return;
    if (this.#socket.isPaused()) {
      this.#socket.once('resume', () => this.slice());
      return;
    }
    this.#isDirect = false;
    this.#socket.on('readable', this.parseSlices);
    // Node.js resumes the socket when the body of a request is read.
    this.#socket.on('resume', this.parseSlices);
  }

  /** Must be called again when the parser may receive more. */
  readonly parseSlices = (): void => {
    if (!this.#isDirect && !this.#isParsing) void this.#parse();
  };

  async #parse(): Promise<void> {
    this.#isParsing = true;
    while (this.#hasSlice) {
      if (this.#socket.readableLength > SLICE_SIZE) await this.#nextSlice();
      if (this.#hasSlice) this.#socket.read(Math.min(SLICE_SIZE, this.#socket.readableLength));
    }
    this.#isParsing = false;
    // Without bytes, `read` emits `end` if the client has ended its side of the connection.
    if (this.#socket.readableLength === 0) this.#socket.read(0);
  }

  get #hasSlice(): boolean {
    return this.#socket.readableLength > 0 && this.#mayParse();
  }

  /** Discards what the socket receives, when Node.js has detached its parser. */
  discard(): void {
    this.#isDirect = false;
    this.#socket.off('readable', this.parseSlices);
    this.#socket.on('data', () => {}).resume();
  }
}
