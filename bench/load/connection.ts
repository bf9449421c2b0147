/** A minimal HTTP/1.1 connection for load, which sends a request and reads a response that has a Content-Length. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Request } from '../works.ts';

const HEAD_END = '\r\n\r\n';

export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #onResponse: ((status: number) => void) | undefined;

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.#fail('the server closed a connection'));
  }

  exchange({ method, path, body }: Request, key: string, onResponse: (status: number) => void): void {
    this.#onResponse = onResponse;
    const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
    const bodyHeaders =
      body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    this.#socket.write(`${head}${bodyHeaders}\r\n${body ?? ''}`, 'latin1');
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length =
      /\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? this.#fail('a response has no Content-Length');
    if (this.#received.length < headEnd + HEAD_END.length + Number(length)) return;
    this.#received = Buffer.alloc(0);
    this.#onResponse?.(Number(head.slice(9, 12)));
  }

  #fail(reason: string): never {
    console.error(reason);
    process.exit(1);
  }
}
