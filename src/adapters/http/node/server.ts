import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkArgument } from '../../../application/arguments.ts';
import type { Api } from '../api/app.ts';
import {
  HOST_RULE,
  type HttpServer,
  type HttpServerOptions,
  limitsOf,
  PORT_RULE,
  SERVER_TIMEOUT,
} from '../api/options.ts';
import { SharedConnections } from '../api/shared-limits.ts';
import { SlowClients } from '../api/slow-clients.ts';
import { refuseMessage } from './bad-message.ts';
import type { HandleRequest } from './connections.ts';
import { Connections } from './connections.ts';
import { Listeners } from './listeners.ts';

/** In milliseconds. */
const KEEP_ALIVE_TIMEOUT = 65_000;
const CONNECTIONS_CHECKING_INTERVAL = 1000;

/** In bytes. */
const HEAD_LIMIT = 16 * 1024;

/** The maximum size of all responses that are buffered because clients do not read, as in `writableLength`. */
const UNSENT_LIMIT = 128 * 1024 * 1024;

/** After `stop`, idle connections stay open for this time, in milliseconds: a client does not learn of the stop at once. */
const IDLE_TIME = 1000;

/** How long a server that stops waits until the servers of other threads stop listening, in milliseconds. */
const OTHERS_TIMEOUT = 1000;
const OTHERS_INTERVAL = 5;

/** In milliseconds. However long the machine stands still between two turns, clients send nothing, so that one is counted. */
const DRAIN_INTERVAL = 50;

/**
 * Creates a server with limits, responses to invalid messages, and a graceful stop.
 *
 * @param handle responds to a valid request, and resolves when the whole response has been passed to Node.js
 */
export function createNodeServer(handle: HandleRequest, api: Api, options: HttpServerOptions): HttpServer {
  const { load } = api;
  const { thread } = options;
  const { maxConnections, headersTimeout, requestTimeout, readingTimeout } = limitsOf(options);
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

  const unsent = new SlowClients(Math.ceil(UNSENT_LIMIT / (thread?.count ?? 1)));
  const shared = thread && new SharedConnections(thread);
  let requestsInFlight = 0;
  const connections = new Connections();
  const handleRequest: HandleRequest = async (req, res) => {
    requestsInFlight += 1;
    try {
      await handle(req, res);
    } catch {
      req.socket.destroy();
    }
    requestsInFlight -= 1;
    // Only while the client does not read is the timeout set, because it would slow down every request.
    const { socket } = req;
    if (res.writableLength > 0 && !socket.destroyed) {
      socket.setTimeout(readingTimeout);
      const size = res.writableLength;
      unsent.hold(socket, size);
      res.once('finish', () => unsent.release(socket, size));
    }
  };
  const listeners = new Listeners(server, maxConnections, thread);
  server.on('connection', (socket) => {
    const isAdmitted = shared?.add(maxConnections) ?? connections.count < maxConnections;
    if (!isAdmitted) {
      socket.destroy();
      return;
    }
    // Node.js remembers the address, which the operating system forgets when the client has disconnected.
    void socket.remoteAddress;
    connections.add(socket);
    socket.once('close', () => {
      unsent.release(socket);
      shared?.remove();
    });
  });
  server.on('request', (req, res) => {
    if (connections.accepts(req, res)) void handleRequest(req, res);
  });
  // OpenTelemetry starts the span of a request with this event.
  const emitRequest = (req: IncomingMessage, res: ServerResponse): void =>
    void server.emit('request', req, res);
  server.on('checkContinue', emitRequest);
  server.on('checkExpectation', emitRequest);
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    // Node.js no longer manages the socket.
    connection.discard();
    socket.on('data', () => {}).resume();
    socket.setTimeout(readingTimeout, () => socket.destroy());
    refuseMessage(connection, 'CONNECT', api, req);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection !== undefined) refuseMessage(connection, error.code, api);
  });

  return {
    async listen(port, host) {
      checkArgument('port', port, PORT_RULE);
      checkArgument('host', host, HOST_RULE);
      const url = await listeners.listen(port, host);
      shared?.setListening(true);
      return url;
    },
    async stop(timeout) {
      checkArgument('timeout', timeout, SERVER_TIMEOUT);
      load.isStopping = true;
      if (timeout > 0) await acceptQueued(server);
      let idleTime = 0;
      const drain = setInterval(() => {
        idleTime += DRAIN_INTERVAL;
        if (idleTime < IDLE_TIME) return;
        // The event loop first reads the requests that have arrived. They are handled.
        load.isRefusing = idleTime > IDLE_TIME;
        setImmediate(() => connections.closeIdle());
      }, DRAIN_INTERVAL);
      const deadline = setTimeout(() => connections.destroy(), timeout);
      const closed = listeners.close();
      shared?.setListening(false);
      // Responses have `Connection: close` only from now on. If a server on the port still accepted connections, clients
      // would open further ones at once, and the last of them would be reset.
      const waitUntil = performance.now() + Math.min(timeout, OTHERS_TIMEOUT);
      while (shared?.isAnyListening && performance.now() < waitUntil) await sleep(OTHERS_INTERVAL);
      connections.stop();
      await closed;
      clearInterval(drain);
      clearTimeout(deadline);
    },
    get isStopping() {
      return load.isStopping;
    },
    statistics: () => ({
      connections: connections.count,
      requestsInFlight,
      refused: { ...load.refused },
    }),
  };
}

/** In milliseconds. While clients open connections all the time, the queue is never empty for long. */
const ACCEPT_TIMEOUT = 500;

/**
 * Resolves when a server has accepted the connections that clients have opened. The operating system has a queue of them,
 * which it resets when the listening socket is closed. The queue is empty when an iteration of the event loop has accepted
 * none.
 */
export async function acceptQueued(server: Server): Promise<void> {
  const deadline = performance.now() + ACCEPT_TIMEOUT;
  // Of the first iteration, only a part is observed.
  let iterations = 2;
  const onConnection = (): void => {
    iterations = 1;
  };
  server.on('connection', onConnection);
  while (iterations > 0 && performance.now() < deadline) {
    iterations -= 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', onConnection);
}
