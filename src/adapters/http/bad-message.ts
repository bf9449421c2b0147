/** Responds, on the bare socket, to what Node.js could not make a request of. */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { OnAnswer } from './answer.ts';
import type { Connection } from './connection.ts';
import { errorAnswer, HttpError } from './errors.ts';
import { JSON_HEADERS, NO_STORE, requestIdOf } from './headers.ts';

/**
 * Responds to what is no HTTP or came too slowly, and closes the connection. The responses to good requests before it
 * go first; a request whose body broke off gets this response as its own.
 *
 * @param fault the code of the parser's error
 */
export function refuseMessage(
  connection: Connection,
  fault: string | undefined,
  onAnswer: OnAnswer | undefined,
): void {
  if (connection.isRefused) return;
  // The rest of the request has come: it is this server that has not read it yet.
  if (fault === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.isHolding) return;
  connection.isRefused = true;
  const { socket, newest, isClosing } = connection;
  const isBodyBroken = newest?.req.complete === false;
  if (!socket.writable || fault === 'ECONNRESET' || (isBodyBroken && newest.headersSent)) socket.destroy();
  else if (isBodyBroken || !isClosing) respondLast(connection, fault, onAnswer);
}

/** Responds to CONNECT. Node.js has given up the socket: a client that does not read is this function's to cut off. */
export function refuseTunnel(
  connection: Connection,
  readingTimeout: number,
  onAnswer: OnAnswer | undefined,
): void {
  const { socket, isClosing } = connection;
  connection.isRefused = true;
  socket.setTimeout(readingTimeout, () => socket.destroy());
  socket.resume();
  if (!isClosing) respondLast(connection, 'CONNECT', onAnswer);
}

function respondLast(
  connection: Connection,
  fault: string | undefined,
  onAnswer: OnAnswer | undefined,
): void {
  const { newest, beforeNewest, socket } = connection;
  connection.isClosing = true;
  const before = newest?.req.complete === false ? beforeNewest : newest;
  if (before === undefined || before.writableFinished) write(socket, fault, onAnswer);
  else before.once('finish', () => write(socket, fault, onAnswer));
}

function write(socket: Socket, fault: string | undefined, onAnswer: OnAnswer | undefined): void {
  if (!socket.writable) return;
  const requestId = requestIdOf(undefined);
  const { status, headers, body } = errorAnswer(errorOf(fault), requestId);
  const fields = [...JSON_HEADERS, ...NO_STORE, ...headers, 'X-Request-Id', requestId];
  fields.push('Content-Length', String(Buffer.byteLength(body)), 'Date', new Date().toUTCString());
  if (!fields.includes('Connection')) fields.push('Connection', 'close');
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let index = 0; index < fields.length; index += 2) head += `${fields[index]}: ${fields[index + 1]}\r\n`;
  socket.write(`${head}\r\n${body}`);
  socket.destroySoon();
  onAnswer?.({
    method: '',
    route: undefined,
    status,
    ms: 0,
    requestId,
    keyId: undefined,
    aborted: undefined,
  });
}

function errorOf(fault: string | undefined): HttpError {
  switch (fault) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'the head of a request must have at most 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError('request_timeout', 'the request took too long to arrive');
    case 'CONNECT':
      return new HttpError('method_not_allowed', 'CONNECT is not allowed here', [
        'Allow',
        'GET, HEAD, POST, OPTIONS',
      ]);
    default:
      return new HttpError('invalid_request', 'the message is not valid HTTP');
  }
}
