/** A well-behaved connection: it sends the next request after the previous response is complete. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Response, ResponseReader } from '../../support/response-reader.ts';

export type Reply = Response | { readonly failure: string };

export class KeepAliveClient {
  readonly #port: number;
  readonly #timeout: number;
  #socket: Socket | undefined;
  #reader = new ResponseReader([]);
  #settle: ((reply: Reply) => void) | undefined;

  /** @param timeout for a response, in milliseconds */
  constructor(port: number, timeout: number) {
    this.#port = port;
    this.#timeout = timeout;
  }

  /** Never rejects. The result of a failed request describes the failure. */
  async request(text: string): Promise<Reply> {
    try {
      this.#socket ??= await this.#connect();
    } catch (error) {
      return { failure: String(error) };
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#fail('no response in time'), this.#timeout);
      this.#settle = (reply) => {
        clearTimeout(timer);
        this.#settle = undefined;
        resolve(reply);
      };
      this.#reader = new ResponseReader(['GET']);
      this.#socket?.write(text);
    });
  }

  /** The next request opens a new connection. */
  disconnect(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #connect(): Promise<Socket> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    socket.on('error', (error) => {
      if (socket === this.#socket) this.#fail(String(error));
    });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(this.#timeout) });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    socket.on('close', () => {
      if (socket === this.#socket) this.#fail('the server closed the connection');
    });
    socket.on('data', (chunk: Buffer) => {
      this.#reader.feed(chunk);
      const { responses, fault } = this.#reader;
      if (fault !== undefined) this.#fail(`no HTTP: ${fault}`);
      else if (responses[0] !== undefined) this.#settle?.(responses[0]);
    });
    return socket;
  }

  #fail(failure: string): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#settle?.({ failure });
  }
}
