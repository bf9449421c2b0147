/** A well-behaved client with one connection, which sends the next request after the previous response is complete. */

import { Agent, type RequestOptions, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export type Reply = { readonly status: number; readonly body: Buffer } | { readonly failure: string };

export class KeepAliveClient {
  readonly #port: number;
  readonly #timeout: number;
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** @param timeout for a response, in milliseconds */
  constructor(port: number, timeout: number) {
    this.#port = port;
    this.#timeout = timeout;
  }

  /** Never rejects. The result of a failed request describes the failure, and the next one opens a new connection. */
  async request(path: string, options: RequestOptions = {}, body?: string): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const timer = setTimeout(() => reject(new Error('no response in time')), this.#timeout);
    request({ ...options, host: '127.0.0.1', port: this.#port, path, agent: this.#agent })
      .on('response', (response) => {
        const { statusCode: status = 0 } = response;
        buffer(response).then((received) => resolve({ status, body: received }), reject);
      })
      .on('error', reject)
      .end(body);
    try {
      return await promise;
    } catch (error) {
      this.disconnect();
      return { failure: String(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next request opens a new connection. */
  disconnect(): void {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }
}
