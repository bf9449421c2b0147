/**
 * A raw socket to the server that can send invalid HTTP. The checks of `answer-checks.ts` are applied to every
 * response.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Answer, type Asked, answerOf, checked } from './client.ts';

const REQUEST_LINE = /([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/g;
const HEAD_END = '\r\n\r\n';

export class Connection {
  readonly socket: Socket;
  /** The status codes of the interim responses (such as 100) received so far. */
  readonly interim: number[] = [];
  /** Resolves when the server has closed its side of the connection, or when the connection was reset. */
  readonly closed: Promise<void>;
  readonly #asked: Asked[] = [];
  #received: Buffer = Buffer.alloc(0);
  readonly #check: typeof checked;
  #isClosed = false;

  private constructor(socket: Socket, check: typeof checked) {
    this.socket = socket;
    this.#check = check;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
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

  /** Writes bytes. The next responses are matched to the request lines in the bytes. */
  write(data: string | Uint8Array): void {
    this.#announce(data);
    this.socket.write(data);
  }

  /** Writes bytes in pieces, with pauses, so that the server receives some pieces separately. */
  async writeInPieces(data: Uint8Array, size: number): Promise<void> {
    this.#announce(data);
    for (let start = 0; start < data.length; start += size) {
      this.socket.write(data.subarray(start, start + size));
      if ((start / size) % 16 === 0) await nextTurn();
    }
  }

  #announce(data: string | Uint8Array): void {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
    for (const [, method = '', target = ''] of text.matchAll(REQUEST_LINE))
      this.#asked.push({ method, target });
  }

  /** Resolves with the next final response. Rejects if the connection ends before that response. */
  async next(): Promise<Answer> {
    const answer = await this.nextOrEnd();
    if (answer === undefined) throw new Error(`no answer, but ${JSON.stringify(String(this.#received))}`);
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
    for (;;) {
      const asked = this.#asked[0] ?? { method: '', target: '' };
      const answer = this.#take(asked.method);
      if (answer !== undefined && answer.status >= 200) {
        this.#asked.shift();
        return this.#check(answer, asked);
      }
      if (answer !== undefined) this.interim.push(answer.status);
      else if (this.#isClosed) return undefined;
      else await once(this.socket, 'received');
    }
  }

  /** Removes the next complete response from the received bytes. Returns `undefined` if the response is incomplete. */
  #take(method: string): Answer | undefined {
    const end = this.#received.indexOf(HEAD_END);
    if (end === -1) return undefined;
    const [statusLine = '', ...lines] = this.#received.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const rawHeaders = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const { headers } = answerOf(status, rawHeaders, '');
    const start = end + HEAD_END.length;
    const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
    const length = hasBody ? Number(headers['content-length']) : 0;
    if (Number.isNaN(length)) throw new Error(`an answer without Content-Length: ${lines.join(', ')}`);
    if (this.#received.length < start + length) return undefined;
    const body = this.#received.subarray(start, start + length).toString();
    this.#received = this.#received.subarray(start + length);
    return answerOf(status, rawHeaders, body);
  }
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
