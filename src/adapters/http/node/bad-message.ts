import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Api } from '../api/app.ts';
import { HttpError, methodNotAllowed, SERVER_METHODS } from '../api/errors.ts';
import type { ErrorContent } from '../api/send-errors.ts';
import { refuseMessage as refusalOf } from '../api/send-errors.ts';
import type { Connection } from './connections.ts';

/**
 * Responds to a message that is invalid or arrives too slowly, or to CONNECT, and closes the connection. The responses to
 * earlier requests are sent first. If the fault is in the body of a request, the error is the response to that request,
 * or the connection is closed after the response that has begun.
 *
 * @param fault the `code` of the error that Node.js reported, or `CONNECT`
 * @param tunnel the request with CONNECT
 */
export function refuseMessage(
  connection: Connection,
  fault: string | undefined,
  api: Api,
  tunnel?: IncomingMessage,
): void {
  if (connection.isRefused) return;
  connection.isRefused = true;
  connection.isClosing = true;
  const { socket, newest } = connection;
  const isBodyBroken = newest?.req.complete === false;
  if (isBodyBroken && newest.headersSent) {
    if (newest.writableFinished) socket.destroy();
    else newest.once('finish', () => socket.destroySoon());
    return;
  }
  // If its handler responds while earlier responses are sent, that response is the last one.
  if (isBodyBroken) newest.shouldKeepAlive = false;
  const forwardedFor = (isBodyBroken ? newest.req : tunnel)?.headers['x-forwarded-for'];
  const send = (): void => {
    // The connection was reset, or closed after an earlier response.
    if (!socket.writable || (isBodyBroken && newest.headersSent)) return;
    write(socket, refusalOf(api, errorOfMessage(fault), socket.remoteAddress, forwardedFor));
  };
  const before = isBodyBroken ? connection.beforeNewest : newest;
  if (before === undefined || before.writableFinished) send();
  else before.once('finish', send);
}

/** Node.js creates no `ServerResponse` for these messages. */
function write(socket: Socket, { status, fields, body }: ErrorContent): void {
  const all = { ...fields, Date: new Date().toUTCString(), Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`;
  socket.write(`${head}\r\n${body}`);
  socket.destroySoon();
}

function errorOfMessage(fault: string | undefined): HttpError {
  switch (fault) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'the head of a request must have at most 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError('request_timeout', 'the request took too long to arrive');
    case 'CONNECT':
      return methodNotAllowed('CONNECT', SERVER_METHODS);
    default:
      return new HttpError('invalid_request', 'the message is not valid HTTP');
  }
}
