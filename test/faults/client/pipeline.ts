/** A connection for pipelined creates: many requests in one write, and their responses in order. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Response, ResponseReader } from './response-reader.ts';

export class Pipeline {
  readonly #socket: Socket;
  readonly #key: string;
  #reader = new ResponseReader([]);
  #isClosed = false;
  #changed: () => void = () => {};

  private constructor(socket: Socket, key: string) {
    this.#socket = socket;
    this.#key = key;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#reader.feed(chunk);
      this.#changed();
    });
    socket.once('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  static async open(port: number, key: string): Promise<Pipeline> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Pipeline(socket, key);
  }

  /** Resolves with fewer responses than bodies when the connection was closed early. */
  async create(bodies: readonly string[]): Promise<readonly Response[]> {
    const reader = new ResponseReader(bodies.map(() => 'POST'));
    this.#reader = reader;
    this.#socket.write(bodies.map((body) => this.#request(body)).join(''));
    const isDone = () =>
      reader.responses.length === bodies.length || reader.fault !== undefined || this.#isClosed;
    await new Promise<void>((resolve) => {
      this.#changed = () => {
        if (isDone()) resolve();
      };
      this.#changed();
    });
    if (reader.fault !== undefined) throw new Error(`no HTTP: ${reader.fault}`);
    return reader.responses;
  }

  close(): void {
    this.#socket.destroy();
  }

  #request(body: string): string {
    const head = `POST /v1/pets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${this.#key}\r\n`;
    return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }
}
