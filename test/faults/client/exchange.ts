/** Delivers one message on its own connection, and collects the responses. */

import type { Socket } from 'node:net';
import { Connection } from '../../support/connection.ts';
import { fieldOf, isClosing, type Response } from '../../support/response-reader.ts';
import type { Message } from '../messages/message.ts';

export interface Exchange {
  readonly responses: readonly Response[];
  /** Why the received bytes are not HTTP; left out when they are. */
  readonly fault: string | undefined;
  /** Bytes after the last complete response. */
  readonly rest: Buffer;
  /** Which side closed the connection, or that it stayed open until the timeout. */
  readonly end: 'server' | 'client' | 'reset' | 'hung';
  /** Whether a plain request after the message got its response, that is, both sides agree where the message ends. */
  readonly isInStep: boolean;
}

/** In milliseconds. The timeout for a response, and for closing a connection. */
const RESPONSE_TIMEOUT = 5000;
const CLOSE_TIMEOUT = 8000;

/** In milliseconds. How long a client waits for a response to a message that may be incomplete. */
const SILENCE = 150;

const PROBE = { method: 'GET', target: '/livez' };

export async function exchange(origin: string, message: Message): Promise<Exchange> {
  const { requests, delivery, isComplete, number } = message;
  const probeId = `p-${number}`;
  const connection = await Connection.open(origin);
  const { socket, reader } = connection;
  connection.announce([...requests, PROBE]);
  const isEnded = () => connection.end !== undefined;
  /** Whether the server would ignore further bytes. */
  const isDone = () => isEnded() || reader.fault !== undefined || reader.responses.some(isClosing);
  // A server that gets the end of a connection drops the responses that it has not sent.
  const timeout = isComplete || requests.length > 1 ? RESPONSE_TIMEOUT : SILENCE;
  await send(socket, message, isDone);
  if (delivery.ending === 'reset') socket.resetAndDestroy();
  else {
    if (delivery.ending === 'wait') {
      await connection.until(() => reader.responses.length >= requests.length || isDone(), timeout);
      const known = reader.responses.length;
      const probe = `GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${probeId}\r\nConnection: close\r\n\r\n`;
      if (!isDone()) socket.write(probe);
      await connection.until(() => isDone() || reader.responses.length > known, timeout);
      await connection.until(isDone, SILENCE);
    }
    if (!isEnded()) socket.end();
    await connection.until(isEnded, CLOSE_TIMEOUT);
  }
  const { responses, fault, rest } = reader;
  const end = connection.end ?? (delivery.ending === 'reset' ? 'client' : 'hung');
  connection.destroy();
  const last = responses.at(-1);
  const isInStep = last !== undefined && last.status === 200 && fieldOf(last, 'x-request-id') === probeId;
  return { responses: isInStep ? responses.slice(0, -1) : responses, fault, rest, end, isInStep };
}

/** Writes segment by segment, as long as the server reads. */
async function send(socket: Socket, { bytes, delivery }: Message, isDone: () => boolean): Promise<void> {
  const ends = [...delivery.cuts.filter((cut) => cut < delivery.sent), delivery.sent];
  let start = 0;
  for (const end of ends) {
    if (isDone()) return;
    const segment = bytes.subarray(start, end);
    await new Promise<void>((resolve) => socket.write(segment, () => setImmediate(resolve)));
    start = end;
  }
}
