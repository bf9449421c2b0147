/** The HTTP server, with limits, responses to invalid messages, and a graceful stop. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { checkArgument } from '../../../application/arguments.ts';
import type { Admission } from '../api/admission.ts';
import type { Api } from '../api/api.ts';
import { refuseMessage, refuseTunnel } from './bad-message.ts';
import type { HandleRequest } from './connection.ts';
import { Connections, IDLE_TIME } from './connections.ts';
import { Listeners } from './listeners.ts';
import { HOST, type HttpServer, limitsOf, PORT, type ServerLimits, TIMEOUT } from './options.ts';
import { UnsentResponses } from './unsent-responses.ts';

/** How long an idle connection stays open after a response, in milliseconds. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** The maximum interval at which Node.js checks `headersTimeout` and `requestTimeout`, in milliseconds. */
const CONNECTIONS_CHECKING_INTERVAL = 1000;

/** The maximum size of a request head, in bytes. */
const HEAD_LIMIT = 16 * 1024;

/** After `stop`, the interval at which the server closes idle connections, in milliseconds. */
const DRAIN_INTERVAL = 50;

/**
 * Creates a server that calls `handle` for each valid request, except for CONNECT.
 *
 * @param handle writes the response, and resolves when the whole response has been passed to Node.js
 * @param api responds to messages that are not valid HTTP, and refuses requests under `/v1` when the server has been
 *   stopping for {@link IDLE_TIME}
 */
export function createNodeServer(handle: HandleRequest, api: Api, limits: ServerLimits): HttpServer {
  const { admission } = api;
  const { maxConnections, headersTimeout, requestTimeout, readingTimeout } = limitsOf(limits);
  const server = createServer({
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // A timeout of 0 is no timeout.
    connectionsCheckingInterval: Math.min(CONNECTIONS_CHECKING_INTERVAL, headersTimeout || Infinity),
    maxHeaderSize: HEAD_LIMIT,
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;

  const unsent = new UnsentResponses();
  let requestsInFlight = 0;
  const connections = new Connections(async (req, res) => {
    requestsInFlight += 1;
    try {
      await handle(req, res);
    } catch {
      req.socket.destroy();
    }
    requestsInFlight -= 1;
    // Node.js buffers a part of the response while the client does not read. Only then is the timeout set, because a
    // timeout for every response would slow down every request.
    if (res.writableLength > 0) {
      req.socket.setTimeout(readingTimeout);
      unsent.add(res, req.socket);
    }
  });
  const listeners = new Listeners(server, maxConnections);
  server.on('connection', (socket) => {
    if (connections.count >= maxConnections) {
      socket.destroy();
      return;
    }
    // Node.js remembers the address. After the client has disconnected, the operating system no longer knows it.
    void socket.remoteAddress;
    connections.add(socket);
    socket.once('close', () => unsent.forget(socket));
  });
  server.on('request', (req, res) => connections.acceptRequest(req, res));
  // OpenTelemetry starts the span of a request when this event is emitted.
  const emitRequest = (req: IncomingMessage, res: ServerResponse): void =>
    void server.emit('request', req, res);
  server.on('checkContinue', emitRequest);
  server.on('checkExpectation', emitRequest);
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.input.discard();
    refuseTunnel(connection, req, readingTimeout, api);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else refuseMessage(connection, error.code, api);
  });

  return {
    async listen(port, host) {
      checkArgument('port', port, PORT);
      checkArgument('host', host, HOST);
      return await listeners.listen(port, host);
    },
    async stop(timeout) {
      checkArgument('timeout', timeout, TIMEOUT);
      admission.stop();
      await stop(listeners, connections, admission, timeout);
    },
    get isStopping() {
      return admission.isStopping;
    },
    statistics: () => ({
      connections: connections.count,
      requestsInFlight,
      refused: { ...admission.refused },
    }),
  };
}

/** Stops listening, and resolves when all connections are closed. */
async function stop(
  listeners: Listeners,
  connections: Connections,
  admission: Admission,
  timeout: number,
): Promise<void> {
  if (timeout > 0) await listeners.acceptQueued();
  const drain = setInterval(() => connections.closeIdle(), DRAIN_INTERVAL);
  const deadline = setTimeout(() => connections.destroy(), timeout);
  const refusing = setTimeout(() => admission.refuse(), IDLE_TIME);
  const closed = listeners.close();
  // Responses have `Connection: close` only from now on. If the server still accepted connections, clients would open
  // further ones at once, and the last of them would be reset.
  connections.stop();
  await closed;
  clearInterval(drain);
  clearTimeout(deadline);
  clearTimeout(refusing);
}
