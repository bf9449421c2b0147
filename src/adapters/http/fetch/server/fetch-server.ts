/** What the servers of Bun and Deno have in common: a graceful stop, and what is counted. */

import { setTimeout as delay } from 'node:timers/promises';
import { checkArgument } from '../../../../application/arguments.ts';
import type { ServerStatistics } from '../../../../application/ports/statistics.ts';
import type { Api } from '../../api/api.ts';
import { HOST, type HttpServer, PORT, TIMEOUT } from '../../api/server-options.ts';
import type { HandlerState } from '../fetch-request.ts';
import { createHandler, type FetchHandler } from '../handler.ts';

/**
 * For this time after `stop`, the server still listens, in milliseconds. Each response closes its connection, so that only
 * connections without a request during this time are left idle.
 */
const LEAVING_TIME = 1000;

/** No request has arrived for this time when the server stops listening, in milliseconds. */
const QUIET_TIME = 20;

/** How long the server waits at most for a {@link QUIET_TIME}, in milliseconds. */
const QUIET_TIMEOUT = 500;

/** How long after the last connections were told to close the server waits for them, in milliseconds. */
const CLOSING_TIME = 100;

/** A server of the runtime. */
export interface RuntimeServer {
  readonly address: string;
  readonly port: number;
  /**
   * Stops listening, and closes idle connections at once. Resolves when the requests in flight have their responses and all
   * connections are closed.
   */
  stop(): Promise<void>;
  /** Closes all connections. */
  destroy(): void;
}

/** Starts a server of the runtime, which calls `handle` for each request. */
export type Listen = (port: number, host: string, handle: FetchHandler) => RuntimeServer;

export class FetchServer implements HttpServer {
  readonly #api: Api;
  readonly #listen: Listen;
  readonly #handle: FetchHandler;
  readonly #state: HandlerState = { requestsInFlight: 0, isStopping: false };
  #server: RuntimeServer | undefined;
  /** While the server waits to stop listening: resolves when it has stopped. */
  #stopped: Promise<void> | undefined;
  #lastRequestAt = 0;

  constructor(api: Api, listen: Listen) {
    this.#api = api;
    this.#listen = listen;
    this.#handle = createHandler(api, this.#state);
  }

  async listen(port: number, host: string): Promise<string> {
    checkArgument('port', port, PORT);
    checkArgument('host', host, HOST);
    const handle = this.#handle;
    this.#server = this.#listen(port, host, (request, info) => {
      const response = handle(request, info);
      return this.#stopped === undefined ? response : this.#hold(response);
    });
    const { address, port: taken } = this.#server;
    return `http://${address.includes(':') ? `[${address}]` : address}:${taken}`;
  }

  /**
   * The runtime closes idle connections when it stops listening, even if a request is on its way on them. So clients are
   * first made to leave their connections. The responses to the last requests are then held back until the runtime has
   * stopped listening, because the clients that wait for them send nothing meanwhile.
   */
  async stop(timeout: number): Promise<void> {
    checkArgument('timeout', timeout, TIMEOUT);
    const server = this.#server;
    const { admission } = this.#api;
    admission.stop();
    this.#state.isStopping = true;
    if (server === undefined) return;
    const deadline = performance.now() + timeout;
    await delay(Math.min(LEAVING_TIME, timeout / 2));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = promise;
    await this.#untilQuiet(Math.min(QUIET_TIMEOUT, timeout / 4));
    const closed = server.stop();
    admission.refuse();
    resolve();
    const isClosed = await settlesBy(deadline, closed);
    if (isClosed) return;
    server.destroy();
    await settlesBy(performance.now() + CLOSING_TIME, closed);
  }

  get isStopping(): boolean {
    return this.#api.admission.isStopping;
  }

  /** The runtimes do not tell how many connections are open. */
  statistics(): ServerStatistics {
    const { requestsInFlight } = this.#state;
    return { connections: Number.NaN, requestsInFlight, refused: { ...this.#api.admission.refused } };
  }

  async #hold(response: Promise<Response>): Promise<Response> {
    this.#lastRequestAt = performance.now();
    await Promise.all([response, this.#stopped]);
    return response;
  }

  async #untilQuiet(timeout: number): Promise<void> {
    const start = performance.now();
    this.#lastRequestAt = start;
    while (performance.now() < Math.min(this.#lastRequestAt + QUIET_TIME, start + timeout)) await delay(1);
  }
}

/** Resolves with whether a promise is fulfilled before a time. */
async function settlesBy(deadline: number, promise: Promise<void>): Promise<boolean> {
  const aborter = new AbortController();
  const { signal } = aborter;
  const late = delay(Math.max(0, deadline - performance.now()), false, { signal });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    late.catch(() => {});
    aborter.abort();
  }
}
