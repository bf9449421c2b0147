/**
 * A raw socket to the server that can send invalid HTTP. The checks of `answer-checks.ts` are applied to every
 * response.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Answer, type Asked, answerOf, checked } from './client.ts';
import { quote, ResponseReader } from './response-reader.ts';

const REQUEST_LINE = /([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/g;

export class Connection {
  readonly socket: Socket;
  /** Resolves when the server has closed its side of the connection, or when the connection was reset. */
  readonly closed: Promise<void>;
  /** Which side has ended the connection: the server, or nobody, because it was reset. */
  end: 'server' | 'reset' | undefined;
  readonly #asked: Asked[] = [];
  readonly #methods: string[] = [];
  /** What was received so far. */
  readonly reader: ResponseReader = new ResponseReader(this.#methods);
  #taken = 0;
  readonly #check: typeof checked;
  #isClosed = false;

  private constructor(socket: Socket, check: typeof checked) {
    this.socket = socket;
    this.#check = check;
    socket.on('error', () => this.#endedBy('reset'));
    socket.on('end', () => this.#endedBy('server'));
    socket.on('data', (chunk: Buffer) => {
      this.reader.feed(chunk);
      socket.emit('received');
    });
    this.closed = new Promise((resolve) => {
      const close = () => {
        this.#isClosed = true;
        socket.emit('received');
        resolve();
      };
      socket.once('end', close);
      socket.once('close', close);
    });
  }

  /** @param check checks each response */
  static async open(origin: string, check: typeof checked = checked): Promise<Connection> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    return new Connection(socket, check);
  }

  /** The status codes of the interim responses (such as 100) received so far. */
  get interim(): readonly number[] {
    return this.reader.interim;
  }

  /** Writes bytes. The next responses are matched to the request lines in the bytes. */
  write(data: string | Uint8Array): void {
    this.announce(askedIn(data));
    this.socket.write(data);
  }

  /** Writes bytes in pieces, with pauses, so that the server receives some pieces separately. */
  async writeInPieces(data: Uint8Array, size: number): Promise<void> {
    this.announce(askedIn(data));
    for (let start = 0; start < data.length; start += size) {
      this.socket.write(data.subarray(start, start + size));
      if ((start / size) % 16 === 0) await nextTurn();
    }
  }

  /** Says to which requests the next responses belong, when the test itself writes their bytes to the socket. */
  announce(asked: readonly Asked[]): void {
    this.#asked.push(...asked);
    this.#methods.push(...asked.map(({ method }) => method));
  }

  /** Waits until a condition holds, which changes with what was received, or until the time in milliseconds has passed. */
  until(isSo: () => boolean, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.socket.off('received', look);
        resolve();
      };
      const look = () => {
        if (isSo()) finish();
      };
      const timer = setTimeout(finish, timeout);
      this.socket.on('received', look);
      look();
    });
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
    const { responses } = this.reader;
    for (;;) {
      const response = responses[this.#taken];
      if (response !== undefined) {
        const asked = this.#asked[this.#taken] ?? { method: '', target: '' };
        this.#taken += 1;
        return this.#check(answerOf(response.status, response.fields, response.body.toString()), asked);
      }
      if (this.reader.fault !== undefined) throw new Error(`no HTTP: ${this.reader.fault}`);
      if (this.#isClosed) return undefined;
      // `once` of node:events would reject when the connection is reset.
      await new Promise((resolve) => this.socket.once('received', resolve));
    }
  }

  #endedBy(end: 'server' | 'reset'): void {
    this.end ??= end;
    this.socket.emit('received');
  }
}

function askedIn(data: string | Uint8Array): Asked[] {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
  return [...text.matchAll(REQUEST_LINE)].map(([, method = '', target = '']) => ({ method, target }));
}

/** Sends bytes on a new connection, and resolves with the first response. */
export async function sendRaw(origin: string, data: string | Uint8Array): Promise<Answer> {
  const connection = await Connection.open(origin);
  connection.write(data);
  const answer = await connection.next();
  connection.destroy();
  return answer;
}

/** Sends bytes on a new connection, and resolves with all responses when the server closes the connection. */
export async function sendLast(origin: string, ...pieces: (string | Uint8Array)[]): Promise<Answer[]> {
  const connection = await Connection.open(origin);
  for (const piece of pieces) connection.write(piece);
  const answers = await connection.rest();
  connection.destroy();
  return answers;
}
