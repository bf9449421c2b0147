import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { checkArgument } from '../../../../application/arguments.ts';
import type { ServerStatistics } from '../../../../application/ports/statistics.ts';
import type { Api } from '../../api/api.ts';
import { HOST, type HttpServer, PORT, TIMEOUT } from '../../api/server-options.ts';
import { createHandler, type FetchHandler } from '../handler.ts';

/** For this time after `stop`, in milliseconds, the server still listens, and each response closes its connection. */
const LEAVING_TIME = 1000;

/**
 * No request has arrived for this time when the server stops listening, in milliseconds. On a busy machine, the clients may
 * not run for a while, and then all connect at once.
 */
const QUIET_TIME = 300;

/**
 * After {@link QUIET_TIME}, no request has arrived in this number of iterations of the event loop either: if other programs
 * had the processor, requests are still in the queues of the operating system.
 */
const QUIET_ITERATIONS = 10;

/** How long responses are held back at most, in milliseconds. */
const HOLDING_TIME = 1000;

/** How long after the server has stopped listening a connection may stay open without a request, in milliseconds. */
const IDLE_TIME = 1000;
const DRAIN_INTERVAL = 50;

export interface RuntimeServer {
  readonly address: string;
  readonly port: number;
  /** Whether `stop` breaks requests whose body has not arrived completely. */
  readonly breaksBodies: boolean;
  /** Whether connections have requests in flight, or are being closed by the runtime. */
  readonly isBusy: boolean;
  /** Stops listening, and closes the connections that become idle. Resolves when all connections are closed. */
  stop(): Promise<void>;
  destroy(): void;
}

export type Listen = (port: number, host: string, handle: FetchHandler) => RuntimeServer;

/**
 * A server of Bun or Deno. When it stops listening, the runtime closes idle connections even if a request is on its way. So
 * clients are first made to leave their connections. The responses to the last requests are then held back until the
 * runtime has stopped listening, because the clients that wait for them send nothing meanwhile.
 */
export class FetchServer implements HttpServer {
  readonly #api: Api;
  readonly #listen: Listen;
  readonly #handle: FetchHandler;
  #requestsInFlight = 0;
  #server: RuntimeServer | undefined;
  /** Resolves when the responses that are held back may be sent. */
  #released: Promise<void> | undefined;
  #held = 0;

  constructor(api: Api, listen: Listen) {
    this.#api = api;
    this.#listen = listen;
    this.#handle = createHandler(api, () => api.admission.isStopping);
  }

  async listen(port: number, host: string): Promise<string> {
    checkArgument('port', port, PORT);
    checkArgument('host', host, HOST);
    this.#server = this.#listen(port, host, this.#respond);
    const { address, port: taken } = this.#server;
    return `http://${address.includes(':') ? `[${address}]` : address}:${taken}`;
  }

  async stop(timeout: number): Promise<void> {
    checkArgument('timeout', timeout, TIMEOUT);
    this.#api.admission.stop();
    const server = this.#server;
    if (server === undefined) return;
    const deadline = performance.now() + timeout;
    const stopped = await this.#stopListening(server, timeout);
    if (stopped === undefined) {
      server.destroy();
      return;
    }
    const { closed } = stopped;
    let isClosed = await settlesBy(Math.min(deadline, performance.now() + IDLE_TIME), closed);
    this.#api.admission.refuse();
    while (!isClosed && server.isBusy && performance.now() < deadline) {
      isClosed = await settlesBy(performance.now() + DRAIN_INTERVAL, closed);
    }
    if (!isClosed) server.destroy();
  }

  get isStopping(): boolean {
    return this.#api.admission.isStopping;
  }

  /** The runtimes do not tell how many connections are open. */
  statistics(): ServerStatistics {
    return {
      connections: Number.NaN,
      requestsInFlight: this.#requestsInFlight,
      refused: { ...this.#api.admission.refused },
    };
  }

  /**
   * Stops listening at a moment without requests on their way, which can take seconds to come. `closed` is what `stop` of
   * the runtime returned. Resolves with `undefined` if no such moment came, and `stop` would break the requests in flight.
   */
  async #stopListening(
    server: RuntimeServer,
    timeout: number,
  ): Promise<{ closed: Promise<void> } | undefined> {
    const deadline = performance.now() + (server.breaksBodies ? timeout : timeout / 2);
    const quietTime = Math.min(QUIET_TIME, timeout / 5);
    const holdingTime = Math.min(HOLDING_TIME, timeout / 4);
    for (;;) {
      await delay(Math.min(LEAVING_TIME, timeout / 2));
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#released = promise;
      try {
        const isQuiet = await this.#untilQuiet(quietTime, holdingTime, server.breaksBodies);
        const isLate = performance.now() >= deadline;
        if (isQuiet || (isLate && !server.breaksBodies)) return { closed: server.stop() };
        if (isLate) return undefined;
      } finally {
        this.#released = undefined;
        resolve();
      }
    }
  }

  readonly #respond: FetchHandler = async (request, info) => {
    const released = this.#released;
    if (released !== undefined) this.#held += 1;
    this.#requestsInFlight += 1;
    const response = await this.#handle(request, info);
    this.#requestsInFlight -= 1;
    if (released !== undefined) await released;
    return response;
  };

  /** Resolves with whether a time without new requests, and without requests in flight, has come. */
  async #untilQuiet(quietTime: number, timeout: number, awaitsRequests: boolean): Promise<boolean> {
    const deadline = performance.now() + timeout;
    while (performance.now() < deadline) {
      const held = this.#held;
      await delay(quietTime);
      for (let count = 0; count < QUIET_ITERATIONS && this.#held === held; count += 1) {
        // The runtimes differ in when they accept connections: while they wait for a timer, or after it.
        await delay(1);
        await nextIteration();
        await nextIteration();
      }
      const isBusy = awaitsRequests && this.#requestsInFlight > 0;
      if (this.#held === held && !isBusy) return true;
    }
    return false;
  }
}

async function settlesBy(time: number, promise: Promise<void>): Promise<boolean> {
  const aborter = new AbortController();
  const { signal } = aborter;
  const late = delay(Math.max(0, time - performance.now()), false, { signal });
  late.catch(() => {});
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    aborter.abort();
  }
}
