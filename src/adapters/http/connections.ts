/** Tracks the connections of a server, responds to invalid messages, and decides which response closes a connection. */

import { AsyncResource } from 'node:async_hooks';
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { breakBody, isFramed } from './check-head.ts';
import type { ErrorContent, HttpError } from './errors.ts';

/** The maximum number of pipelined requests in flight on a connection. Later ones are ignored. */
const PIPELINE_LIMIT = 16;
const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A client that does not read its response is disconnected after this time, in milliseconds. */
export const READ_TIMEOUT = 120_000;

/** How long a client may go on sending after the server has sent its last response, in milliseconds. */
const LINGER_TIME = 1000;

interface Connection {
  /** The responses in flight, in the order of their requests. Node.js finishes them in this order. */
  readonly unanswered: ServerResponse[];
  /** How many bytes the socket had read at the end of the last request. If it has read more, a request is arriving. */
  bytesRead: number;
  /** Whether the connection will be closed. If so, further messages are ignored. */
  isClosing: boolean;
  /** The request whose body is arriving. Its response can already have been sent. */
  receiving: IncomingMessage | undefined;
}

export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();

  add(socket: Socket): void {
    this.#bySocket.set(socket, { unanswered: [], bytesRead: 0, isClosing: false, receiving: undefined });
    // After a CONNECT request, Node.js removes its own listeners. Without one for `error`, an error would end the
    // process. Without one for `close`, the responses queued behind the first one would not be closed.
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const res of this.#bySocket.get(socket)?.unanswered ?? []) res.destroy();
      this.#bySocket.delete(socket);
    });
    // Node.js calls `destroySoon` after the last response. The original method would close the connection at once, and a client
    // that is still sending could lose the response.
    socket.destroySoon = () => linger(socket);
  }

  get count(): number {
    return this.#bySocket.size;
  }

  /**
   * Calls the handler of a request. In a pipeline, a write waits for all earlier responses, and a safe request waits for the
   * responses to earlier writes (RFC 9112, section 9.3.2). A request is ignored if the response to an earlier one closes the
   * connection.
   */
  accept(req: IncomingMessage, res: ServerResponse, handle: RequestListener): void {
    const { socket } = req;
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return;
    const { unanswered } = connection;
    // Without the pause, Node.js would parse thousands of pipelined requests, and keep them in memory.
    if (connection.isClosing || unanswered.at(-1)?.shouldKeepAlive === false) return void socket.pause();
    const isWrite = (each: ServerResponse) => !SAFE.has(each.req.method);
    const previous = isWrite(res) ? unanswered.at(-1) : unanswered.findLast(isWrite);
    unanswered.push(res);
    const noteEnd = () => Object.assign(connection, { bytesRead: socket.bytesRead, receiving: undefined });
    noteEnd();
    if ('content-length' in req.headers || 'transfer-encoding' in req.headers)
      connection.receiving = req.once('close', noteEnd);
    res.on('close', () => {
      unanswered.shift();
      connection.isClosing ||= !res.shouldKeepAlive;
    });
    // The connection is closed if the next bytes might not be a request: after an upgrade request, they can be another protocol.
    // After a request with an ambiguous end, they can still belong to this request.
    const isUnclear = req.headers.upgrade !== undefined || !isFramed(req);
    if (isUnclear || unanswered.length === PIPELINE_LIMIT) res.shouldKeepAlive = false;
    if (previous === undefined) return void handle(req, res);
    // `bind` keeps the asynchronous context, which contains the trace.
    const start = AsyncResource.bind(() => socket.writable && handle(req, res));
    previous.setMaxListeners(0).once('close', start);
  }

  /** Closes idle connections: those that have received nothing after the packet with the end of their last request. */
  closeIdle(): void {
    for (const [socket, { unanswered, bytesRead }] of this.#bySocket) {
      if (unanswered.length === 0 && socket.bytesRead === bytesRead) socket.destroy();
    }
  }

  /** Closes all connections, even those that Node.js no longer tracks after a CONNECT request. */
  closeAll(): void {
    for (const socket of this.#bySocket.keys()) socket.destroy();
  }

  /** Whether a response belongs to the newest request of its connection. */
  isNewest(res: ServerResponse): boolean {
    return this.#bySocket.get(res.req.socket)?.unanswered.at(-1) === res;
  }

  /**
   * Refuses a message that is invalid or arrives too slowly, or a CONNECT request, and closes the connection. If the body of a
   * request is broken, the reader of the body fails, so that the response to this request reports the fault. Otherwise, sends a
   * response after the responses to earlier requests.
   */
  refuse(socket: Socket, fault: HttpError, createResponse: () => ErrorContent): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || connection.isClosing) return;
    connection.isClosing = true;
    // After CONNECT, Node.js applies no timeout. After other messages, each byte from the client would extend the timeout.
    const deadline = setTimeout(() => socket.destroy(), READ_TIMEOUT).unref();
    socket.once('close', () => clearTimeout(deadline));
    const newest = connection.unanswered.at(-1);
    if (newest === undefined && connection.receiving?.complete === false) return void linger(socket);
    const respond = () => socket.writable && end(socket, createResponse());
    if (newest === undefined) return void respond();
    if (newest.req.complete) return void newest.once('close', respond);
    newest.shouldKeepAlive = false;
    // If the response has begun, its headers may promise to keep the connection open, so the socket is destroyed after it.
    if (newest.headersSent) newest.once('close', () => socket.destroy());
    else breakBody(newest.req, fault);
  }
}

/** Writes the response to a refused message, for which Node.js creates no `ServerResponse`. */
function end(socket: Socket, { status, fields, body }: ErrorContent): void {
  const length = Buffer.byteLength(body);
  const all = { ...fields, 'Content-Length': length, Date: new Date().toUTCString(), Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  linger(socket);
}

/** Closes a connection when the client closes its side, or at the latest after a second (RFC 9112, section 9.6). */
function linger(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_TIME).unref();
}
