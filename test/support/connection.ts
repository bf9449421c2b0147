/**
 * A raw socket to the server that can send invalid HTTP. The checks of `answer-checks.ts` are applied to every
 * response.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checked } from './answer-checks.ts';
import { type Answer, type Asked, answerOf } from './client.ts';
import { quote, ResponseReader } from './response-reader.ts';

const REQUEST_LINE = /([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/g;

/** The longest wait for a response or for the end of a connection, in milliseconds. */
const WAIT_LIMIT = 100_000;

/** Taken when this module is loaded, so that a test that stops its clock does not stop these timers. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

type Data = string | Uint8Array;

export class Connection {
  readonly socket: Socket;
  /** Which side has ended the connection: the server, or nobody, because it was reset. */
  end: 'server' | 'reset' | undefined;
  readonly #asked: Asked[] = [];
  readonly #methods: string[] = [];
  /** What was received so far. */
  readonly reader: ResponseReader = new ResponseReader(this.#methods);
  #taken = 0;
  readonly #check: typeof checked;

  private constructor(socket: Socket, check: typeof checked) {
    this.socket = socket;
    this.#check = check;
    socket.on('error', () => {
      this.end ??= 'reset';
    });
    socket.on('end', () => {
      this.end ??= 'server';
    });
    socket.on('data', (chunk: Buffer) => this.reader.feed(chunk));
    for (const event of ['data', 'end', 'error', 'close']) socket.on(event, () => socket.emit('received'));
  }

  /**
   * @param data the first bytes to write
   * @param check checks each response
   */
  static async open(origin: string, data: Data = '', check: typeof checked = checked): Promise<Connection> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    const connection = new Connection(socket, check);
    connection.write(data);
    return connection;
  }

  /** Resolves when the server has closed its side of the connection, or when the connection was reset. */
  get closed(): Promise<void> {
    return this.#mustBecome('the end of the connection', () => this.#isClosed);
  }

  get #isClosed(): boolean {
    return this.end !== undefined || this.socket.destroyed;
  }

  /** The status codes of the interim responses (such as 100) received so far. */
  get interim(): readonly number[] {
    return this.reader.interim;
  }

  /** Writes bytes. The next responses are matched to the request lines in the bytes. */
  write(data: Data): void {
    this.#announce(askedIn(data));
    this.socket.write(data);
  }

  /** Writes bytes in pieces, with pauses, so that the server receives some pieces separately. */
  async writeInPieces(data: Uint8Array, size: number): Promise<void> {
    this.#announce(askedIn(data));
    for (let start = 0; start < data.length; start += size) {
      this.socket.write(data.subarray(start, start + size));
      if ((start / size) % 16 === 0) await nextTurn();
    }
  }

  #announce(asked: readonly Asked[]): void {
    this.#asked.push(...asked);
    this.#methods.push(...asked.map(({ method }) => method));
  }

  /** Waits until a condition on the received data holds, or until the time in milliseconds has passed. */
  until(isSo: () => boolean, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        stopTimer(timer);
        this.socket.off('received', look);
        resolve();
      };
      const look = () => {
        if (isSo()) finish();
      };
      const timer = startTimer(finish, timeout);
      this.socket.on('received', look);
      look();
    });
  }

  async #mustBecome(what: string, isSo: () => boolean): Promise<void> {
    await this.until(isSo, WAIT_LIMIT);
    if (!isSo()) throw new Error(`waited ${WAIT_LIMIT / 1000} s for ${what}`);
  }

  /** Resolves with the next final response. Rejects if the connection ends before that response. */
  async next(): Promise<Answer> {
    const answer = await this.nextOrEnd();
    if (answer === undefined) throw new Error(`no answer, but ${quote(this.reader.rest.toString())}`);
    return answer;
  }

  /** Resolves with all remaining responses when the server closes the connection. */
  async rest(): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (;;) {
      const answer = await this.nextOrEnd();
      if (answer === undefined) return answers;
      answers.push(answer);
    }
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Resolves with the next final response, or with `undefined` when the server has closed the connection. */
  async nextOrEnd(): Promise<Answer | undefined> {
    const { reader } = this;
    const asked = () => this.#asked[this.#taken] ?? { method: '', target: '' };
    const next = () => reader.responses[this.#taken];
    const isOver = () => next() !== undefined || reader.fault !== undefined || this.#isClosed;
    await this.#mustBecome(`the response to ${JSON.stringify(asked())}`, isOver);
    const response = next();
    if (response !== undefined) {
      const { status, fields, body } = response;
      const answer = this.#check(answerOf(status, fields, body.toString()), asked());
      this.#taken += 1;
      return answer;
    }
    if (reader.fault !== undefined) throw new Error(`no HTTP: ${reader.fault}`);
    return undefined;
  }
}

function askedIn(data: Data): Asked[] {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
  return [...text.matchAll(REQUEST_LINE)].map(([, method = '', target = '']) => ({ method, target }));
}

/** Sends bytes on a new connection, and resolves with the first response. */
export async function sendRaw(origin: string, data: Data): Promise<Answer> {
  const connection = await Connection.open(origin, data);
  const answer = await connection.next();
  connection.destroy();
  return answer;
}

/** Sends bytes on a new connection, and resolves with all responses when the server closes the connection. */
export async function sendLast(origin: string, ...pieces: Data[]): Promise<Answer[]> {
  const connection = await Connection.open(origin);
  for (const piece of pieces) connection.write(piece);
  const answers = await connection.rest();
  connection.destroy();
  return answers;
}
