/**
 * The main module of a process: many rude connections. Each sends the next request as soon as it has a response, whatever
 * the response says, and is opened again when it is closed.
 */

import { connect } from 'node:net';
import { setPriority } from 'node:os';

export interface Crowd {
  readonly port: number;
  readonly key: string;
  readonly connections: number;
  /** The address of all connections, which a proxy tells apart from that of other clients. */
  readonly address: string;
}

export interface CrowdResult {
  /** The number of responses with status 200. */
  readonly served: number;
  /** The number of responses with status 429 or 503 and `Retry-After`. */
  readonly refused: number;
  /** The first other responses. */
  readonly failures: readonly string[];
  /** The number of connections that were closed after a response that did not announce it. */
  readonly broken: number;
}

const SHOWN_FAILURES = 5;

const { port, key, connections, address } = JSON.parse(process.argv[2] ?? '') as Crowd;
const list = `GET /v1/pets?limit=20 HTTP/1.1\r\nHost: pets.example.org\r\nAuthorization: Bearer ${key}\r\n\r\n`;
const failures: string[] = [];
let [served, refused, broken, opened] = [0, 0, 0, 0];

/** Returns whether the server closes the connection after this response. */
function note(text: string): boolean {
  const status = text.slice(9, 12);
  if (status === '200') served += 1;
  else if (/^(429|503)$/.test(status) && /\r\nRetry-After: \d+\r\n/i.test(text)) refused += 1;
  else if (failures.length < SHOWN_FAILURES) failures.push(text.slice(0, 500));
  return /\r\nConnection: close\r\n/i.test(text);
}

function lengthOf(text: string): number {
  const end = text.indexOf('\r\n\r\n');
  const body = /\r\nContent-Length: (\d+)/i.exec(text)?.[1];
  return end === -1 ? Infinity : end + 4 + Number(body ?? 0);
}

function open(): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address, noDelay: true });
  let text = '';
  let isClosing = false;
  let hasResponse = false;
  socket.setEncoding('latin1');
  socket.once('connect', () => {
    opened += 1;
    if (opened === connections) process.send?.('started');
    socket.write(list);
  });
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (text.length < lengthOf(text)) return;
    hasResponse = true;
    isClosing = note(text);
    text = '';
    if (!isClosing) socket.write(list);
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    if (hasResponse && !isClosing) broken += 1;
    setTimeout(open, 100);
  });
}

/** The load stands for other machines. It must not take processor time from the server and from the polite client. */
setPriority(10);

process.once('message', () => {
  const result: CrowdResult = { served, refused, failures, broken };
  process.send?.(result, () => process.exit(0));
});
process.once('disconnect', () => process.exit(0));
for (let count = 0; count < connections; count += 1) setTimeout(open, count / 2);
