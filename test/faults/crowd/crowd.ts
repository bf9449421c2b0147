/**
 * The main module of a process: many connections, each of which sends the next request as soon as the previous response
 * is complete, until it is told to stop. A refused request is repeated at once: these clients ignore `Retry-After`.
 */

import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Latencies, type LatencySummary } from '../soak/latencies.ts';

export interface Crowd {
  readonly port: number;
  readonly key: string;
  readonly connections: number;
  readonly work: 'list' | 'create';
  /** The time between the first request and the measurement, in seconds. */
  readonly warmUp: number;
}

export interface CrowdResult {
  /** The number of responses with status 200 or 201 per second. */
  readonly perSecond: number;
  /** The number of responses with status 503. */
  readonly refused: number;
  /** The number of 503 responses without `Retry-After: 1` and the code `overloaded`. */
  readonly malformed: number;
  /** The number of other responses, and of broken connections. */
  readonly failed: number;
  /** The latency of the responses with status 200 or 201, in milliseconds. */
  readonly accepted: LatencySummary;
}

/**
 * The number of connections that are opened at the same time. Requests are sent when all connections are open, because a
 * busy server accepts few connections per second.
 */
const OPENING = 50;

const crowd = JSON.parse(process.argv[2] ?? '') as Crowd;
const fields = `Host: 127.0.0.1\r\nAuthorization: Bearer ${crowd.key}\r\n`;
const body = '{"name":"Rex","categoryId":7}';
const list = `GET /v1/pets?limit=20 HTTP/1.1\r\n${fields}\r\n`;
const request = Buffer.from(
  {
    list,
    create: `POST /v1/pets HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  }[crowd.work],
);

/** Sent first, because a server closes a connection on which no request arrives for ten seconds. */
const healthCheck = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

let isMeasuring = false;
let accepted = 0;
let refused = 0;
let malformed = 0;
let failed = 0;
const latencies = new Latencies();

function count(text: string, sentAt: number): void {
  if (!isMeasuring) return;
  const status = text.slice(9, 12);
  if (status === '200' || status === '201') {
    accepted += 1;
    latencies.add(performance.now() - sentAt);
  } else if (status === '503') {
    refused += 1;
    if (!/\r\nRetry-After: 1\r\n/i.test(text) || !text.includes('"code":"overloaded"')) malformed += 1;
  } else {
    failed += 1;
  }
}

function lengthOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const at = text.indexOf('Content-Length: ');
  if (at === -1) return end + 4;
  return end + 4 + Number.parseInt(text.slice(at + 16, at + 26), 10);
}

function open(): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port: crowd.port, host: '127.0.0.1', noDelay: true });
    let text = '';
    let sentAt = 0;
    let isOpen = false;
    const send = () => {
      text = '';
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length < (lengthOf(text) ?? Infinity)) return;
      if (isOpen) {
        count(text, sentAt);
        send();
        return;
      }
      isOpen = true;
      resolve(socket);
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      failed += 1;
      resolve(socket);
    });
    socket.once('connect', () => socket.write(healthCheck));
    socket.once('start', send);
  });
}

/** The load stands for other machines. It must not take processor time from the server and from the probes. */
setPriority(10);

let start = 0;

/** The process exits like a client that crashes: every connection breaks. */
process.once('message', () => {
  isMeasuring = false;
  const seconds = (performance.now() - start) / 1000;
  const result: CrowdResult = {
    perSecond: Math.round(accepted / seconds),
    refused,
    malformed,
    failed,
    accepted: latencies.summary(),
  };
  process.send?.(result, () => process.exit(0));
});
process.once('disconnect', () => process.exit(0));

const sockets: Socket[] = [];
while (sockets.length < crowd.connections) {
  const size = Math.min(OPENING, crowd.connections - sockets.length);
  sockets.push(...(await Promise.all(Array.from({ length: size }, open))));
}
for (const socket of sockets) socket.emit('start');
await sleep(crowd.warmUp * 1000);
start = performance.now();
isMeasuring = true;
process.send?.('started');
