/** The HTTP server around the app: it listens, gives slow and broken clients their answer, and stops in good order. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type Koa from 'koa';
import type { OnAnswer } from './answer.ts';
import { refuseMessage, refuseTunnel } from './bad-message.ts';
import { Connections } from './connections.ts';

/** How long a client may take, in milliseconds: for a request's head, for all of it, for its next one, to read on. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 30_000;
const KEEP_ALIVE_TIMEOUT = 65_000;
const READING_TIMEOUT = 120_000;
const CONNECTIONS_CHECKING_INTERVAL = 1000;

/** The largest head of a request, in bytes. */
const HEAD_LIMIT = 16 * 1024;

/** How often a stopping server looks for connections that have become idle, in milliseconds. */
const DRAIN_INTERVAL = 50;

/** A server that is told when to listen and when to stop. */
export interface HttpServer {
  /** Starts to listen, and tells where: `http://127.0.0.1:3000`. Port 0 takes a free one. */
  listen(port: number, host: string): Promise<string>;
  /** Takes no new connection, answers what is in flight, and after `timeout` milliseconds lets go of what is left. */
  stop(timeout: number): Promise<void>;
  readonly isStopping: boolean;
}

export interface HttpServerOptions {
  /** How many connections may be open at once; one more is closed at once. No limit when left out. */
  readonly maxConnections?: number | undefined;
  /** Told of answers to messages that were no HTTP or came too slowly. */
  readonly onAnswer?: OnAnswer | undefined;
  /** For tests of slow clients; milliseconds. */
  readonly headersTimeout?: number | undefined;
  readonly requestTimeout?: number | undefined;
  readonly readingTimeout?: number | undefined;
}

/** @param app gives the app; it may ask the server whether it is stopping */
export function createHttpServer(
  app: (server: HttpServer) => Koa,
  {
    maxConnections,
    onAnswer,
    headersTimeout = HEADERS_TIMEOUT,
    requestTimeout = REQUEST_TIMEOUT,
    readingTimeout = READING_TIMEOUT,
  }: HttpServerOptions = {},
): HttpServer {
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

  let isStopping = false;
  const self: HttpServer = {
    listen: (port, host) => listen(server, port, host),
    stop(timeout) {
      isStopping = true;
      connections.stop();
      return stop(server, connections, timeout);
    },
    get isStopping() {
      return isStopping;
    },
  };

  const handle = app(self).callback();
  const connections = new Connections(async (req, res) => {
    try {
      await handle(req, res);
    } catch {
      req.socket.destroy();
    }
    // Only a client that does not read leaves something behind. A timeout of all sockets costs 4 % of every request.
    if (res.writableLength > 0) req.socket.setTimeout(readingTimeout);
  });
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => connections.take(req, res);
  server.on('connection', (socket) => connections.add(socket));
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('connect', (_req: IncomingMessage, socket: Socket) => {
    const connection = connections.get(socket);
    if (connection !== undefined) refuseTunnel(connection, readingTimeout, onAnswer);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else refuseMessage(connection, error.code, onAnswer);
  });
  return self;
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

/** `http.Server.close` would cut idle connections at once, and with them requests that are just coming in. */
function stop(server: Server, connections: Connections, timeout: number): Promise<void> {
  return new Promise((resolve) => {
    const drain = setInterval(() => connections.closeIdle(), DRAIN_INTERVAL);
    const deadline = setTimeout(() => connections.destroy(), timeout);
    NetServer.prototype.close.call(server, () => {
      clearInterval(drain);
      clearTimeout(deadline);
      resolve();
    });
  });
}
