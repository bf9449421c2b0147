/** The HTTP server, with limits, responses to invalid messages, and a graceful stop. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { ServerStatistics } from '../../../application/ports/statistics.ts';
import type { Admission } from '../api/admission.ts';
import { acceptQueued } from './accept-queue.ts';
import { type Reporting, refuseMessage, refuseTunnel } from './bad-message.ts';
import type { HandleRequest } from './connection.ts';
import { Connections, IDLE_TIME } from './connections.ts';
import { UnsentResponses } from './unsent-responses.ts';

/** The default of `headersTimeout`, in milliseconds. */
const HEADERS_TIMEOUT = 10_000;

/** The default of `requestTimeout`, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

/** How long an idle connection stays open after a response, in milliseconds. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** The default of `readingTimeout`, in milliseconds. */
const READING_TIMEOUT = 120_000;

/** The interval at which Node.js checks `headersTimeout` and `requestTimeout`, in milliseconds. */
const CONNECTIONS_CHECKING_INTERVAL = 1000;

/** The maximum size of a request head, in bytes. */
const HEAD_LIMIT = 16 * 1024;

/** After `stop`, the interval at which the server closes idle connections, in milliseconds. */
const DRAIN_INTERVAL = 50;

/** An HTTP server that does not listen until `listen` is called. */
export interface HttpServer {
  /**
   * Starts to listen. Resolves with the URL of the server, such as `http://127.0.0.1:3000`. If `port` is 0, the
   * operating system selects a free port.
   */
  listen(port: number, host: string): Promise<string>;
  /**
   * Stops accepting connections, and completes the requests in flight. For one second, the next request of each open
   * connection is handled too, because a client does not learn of the stop before the next response. Connections that
   * are still open after `timeout` milliseconds are closed. Resolves when all connections are closed.
   */
  stop(timeout: number): Promise<void>;
  readonly isStopping: boolean;
  /** Returns what the server counts, for monitoring. */
  statistics(): ServerStatistics;
}

/** The limits of a server: for the number of connections, and for slow clients. */
export interface ServerLimits {
  /**
   * The maximum number of open connections. Further connections are closed immediately. By default there is no limit.
   */
  readonly maxConnections?: number | undefined;
  /** How long a client may take to send the head of a request, in milliseconds. Default: 10,000. */
  readonly headersTimeout?: number | undefined;
  /** How long a client may take to send a whole request, in milliseconds. Default: 30,000. */
  readonly requestTimeout?: number | undefined;
  /**
   * How long a client may read nothing of a response that it has not received completely, in milliseconds. The
   * connection is then closed. Default: 120,000.
   */
  readonly readingTimeout?: number | undefined;
}

/** The options of a server. The observer is notified of the responses that the server sends itself. */
export interface NodeServerOptions extends ServerLimits, Reporting {}

/**
 * Creates a server that calls `handle` for each valid request, except for CONNECT.
 *
 * @param handle writes the response, and resolves when the whole response has been passed to Node.js
 * @param admission makes the app refuse requests under `/v1` when the server has been stopping for {@link IDLE_TIME}
 */
export function createNodeServer(
  handle: HandleRequest,
  admission: Admission,
  options: NodeServerOptions,
): HttpServer {
  const {
    maxConnections,
    headersTimeout = HEADERS_TIMEOUT,
    requestTimeout = REQUEST_TIMEOUT,
    readingTimeout = READING_TIMEOUT,
  } = options;
  const server = createServer({
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    connectionsCheckingInterval: CONNECTIONS_CHECKING_INTERVAL,
    maxHeaderSize: HEAD_LIMIT,
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;

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
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => connections.take(req, res);
  server.on('connection', (socket) => {
    // Node.js remembers the address. After the client has disconnected, the operating system no longer knows it.
    void socket.remoteAddress;
    connections.add(socket);
  });
  server.on('request', onRequest);
  // OpenTelemetry starts the span of a request when this event is emitted.
  const emitRequest = (req: IncomingMessage, res: ServerResponse): void =>
    void server.emit('request', req, res);
  server.on('checkContinue', emitRequest);
  server.on('checkExpectation', emitRequest);
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection !== undefined) refuseTunnel(connection, req, readingTimeout, options);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else refuseMessage(connection, error.code, options);
  });

  return {
    listen: (port, host) => listen(server, port, host),
    stop(timeout) {
      admission.stop();
      return stop(server, connections, admission, timeout);
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

async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/**
 * Stops the server with the method `close` of `net.Server`. The method `close` of `http.Server` is not used, because it
 * closes idle connections immediately, even while a request is arriving.
 */
async function stop(
  server: Server,
  connections: Connections,
  admission: Admission,
  timeout: number,
): Promise<void> {
  if (timeout > 0) await acceptQueued(server);
  return new Promise((resolve) => {
    const drain = setInterval(() => connections.closeIdle(), DRAIN_INTERVAL);
    const deadline = setTimeout(() => connections.destroy(), timeout);
    const refusing = setTimeout(() => admission.refuse(), IDLE_TIME);
    NetServer.prototype.close.call(server, () => {
      clearInterval(drain);
      clearTimeout(deadline);
      clearTimeout(refusing);
      resolve();
    });
    // Responses have `Connection: close` only from now on. If the server still accepted connections, clients would open
    // further ones at once, and the last of them would be reset.
    connections.stop();
  });
}
