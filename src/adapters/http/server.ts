/** A server of Node.js with limits, responses to invalid messages, and a graceful stop. */

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, Server as NetServer, type Server, type Socket } from 'node:net';
import { nextTurn } from '../../application/pause.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Api } from './app.ts';
import { Connections, READ_TIMEOUT } from './connections.ts';
import { HttpError, methodNotAllowed, TOO_SLOW } from './errors.ts';
import { messageRefusal } from './observe.ts';
import type { HttpServer, HttpServerOptions } from './options.ts';

/** In milliseconds. A proxy closes idle connections first: `nginx.conf` and `Caddyfile` have shorter timeouts. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** In bytes. */
const HEAD_LIMIT = 16 * 1024;

/** After `stop`, idle connections stay open for this time, in milliseconds: a client does not learn of the stop at once. */
const IDLE_TIME = 1000;
const IDLE_INTERVAL = 50;

export function createNodeServer(
  listener: RequestListener,
  api: Api,
  options: HttpServerOptions,
): HttpServer {
  const { load, methods } = api;
  const { requestTimeout = Math.max(30_000, options.headersTimeout ?? 0), maxConnections } = options;
  // The timeout 0 means no limit.
  const { headersTimeout = Math.min(10_000, requestTimeout || 10_000) } = options;
  if (requestTimeout > 0 && headersTimeout > requestTimeout)
    throw invalidRequest(
      `headersTimeout: expected at most requestTimeout (${requestTimeout}), got ${headersTimeout}`,
    );
  const server = createServer({
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: 1000,
    maxHeaderSize: HEAD_LIMIT,
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;
  // A client may close its side after its requests, as `nc -N` does, and still read the responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.timeout = READ_TIMEOUT;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;

  const connections = new Connections();
  // Connections are closed only after the port: otherwise, a client could connect again, and closing the port would reset the new
  // connection.
  load.isLast = (res) => !server.listening && connections.isNewest(res);
  server.on('connection', (socket) => connections.add(socket));
  server.on('drop', () => {
    load.refused.max_connections += 1;
  });
  server.on('request', (req, res) => connections.accept(req, res, listener));
  // A connection that cannot be accepted must not end the process.
  server.on('error', (error) => {
    if (server.listening) api.reportFailure('accepting a connection', error);
  });
  // Without this, Node.js would respond to an unknown `Expect` without a body. Calling the listener directly would start no span in
  // OpenTelemetry.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  const refuse = (socket: Socket, error: HttpError): void =>
    connections.refuse(socket, error, () => messageRefusal(api.observer, error, socket.remoteAddress));
  server.on('connect', ({ socket }) => {
    // Discards further data. Otherwise, a client that is still sending could not read the response.
    socket.resume();
    refuse(socket, methodNotAllowed('CONNECT', methods));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuse(socket as Socket, FAULTS[error.code ?? ''] ?? INVALID_MESSAGE),
  );

  return {
    async listen(port, host) {
      // Without a host, Node.js listens on `::`, or on `0.0.0.0` on a machine without IPv6.
      if (!load.isStopping) {
        server.listen({ port, ...(host !== '::' && { host }) });
        // If `stop` is called before the host name is resolved, it closes the server, which then never listens.
        await Promise.race([once(server, 'listening'), once(server, 'close')]);
      }
      if (load.isStopping) throw new Error('the server was stopped');
      const { address, family, port: taken } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
    },
    async stop(timeout) {
      load.isStopping = true;
      if (timeout > 0) await acceptQueued(server);
      const { promise: closed, resolve } = Promise.withResolvers<unknown>();
      // The `close` of `http.Server` would also close idle connections on which a request is just arriving.
      NetServer.prototype.close.call(server, resolve);
      let idleTime = 0;
      const drain = setInterval(() => {
        idleTime += IDLE_INTERVAL;
        // Before `setImmediate` calls back, the event loop reads requests that have arrived, so they are handled.
        if (idleTime >= IDLE_TIME) setImmediate(() => connections.closeIdle());
      }, IDLE_INTERVAL);
      // A timer with a delay above 2^31 - 1 ms would fire at once.
      const deadline = setTimeout(() => connections.closeAll(), Math.min(timeout, 2 ** 31 - 1));
      await closed;
      clearInterval(drain);
      clearTimeout(deadline);
      // Ends the timer of `connectionsCheckingInterval`.
      server.close();
    },
    get isStopping() {
      return load.isStopping;
    },
    statistics: () => ({
      connections: connections.count,
      requestsInFlight: load.inFlight,
      refused: { ...load.refused },
    }),
  };
}

/** The errors to respond with, by the error code of Node.js. */
const FAULTS: Readonly<Record<string, HttpError>> = {
  HPE_HEADER_OVERFLOW: new HttpError('headers_too_large', 'the head of a request must have at most 16 KiB'),
  ERR_HTTP_REQUEST_TIMEOUT: TOO_SLOW,
};
const INVALID_MESSAGE = new HttpError('invalid_request', 'the message is not valid HTTP');

/** In milliseconds. Without this timeout, clients that keep opening connections could keep `acceptQueued` waiting forever. */
const ACCEPT_TIMEOUT = 500;
/** In milliseconds. In a longer iteration of the event loop, connections can be queued. Only the next iteration accepts them. */
const SHORT_ITERATION = 0.5;

/**
 * Resolves when a server has accepted the connections that clients have opened, or after a timeout. The operating system queues
 * connections, and resets those that are still queued when the port is closed. If a short iteration of the event loop accepts no
 * connection, the queue is empty.
 */
async function acceptQueued(server: Server): Promise<void> {
  const deadline = performance.now() + ACCEPT_TIMEOUT;
  let hasAccepted = false;
  const onConnection = (): void => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  // The present iteration does not count, because it began before connections were observed.
  await nextTurn();
  let isEmpty = false;
  while (!isEmpty && performance.now() < deadline) {
    hasAccepted = false;
    const begin = performance.now();
    await nextTurn();
    isEmpty = !hasAccepted && performance.now() - begin <= SHORT_ITERATION;
  }
  server.off('connection', onConnection);
}
