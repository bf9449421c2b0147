/**
 * The main module of a process: thousands of connections that take resources and do little, until it is told to stop.
 */

import type { Socket } from 'node:net';
import { open, paced, sendAndReset, type Target } from '../soak/attacks/attack.ts';

export interface Horde extends Target {
  /** The number of connections that are idle after a first response. */
  readonly idle: number;
  /** The number of connections of each kind that sends or reads one byte per second. */
  readonly slow: number;
  /** The number of requests that a slow reader sends at once. */
  readonly pipelined: number;
}

/** How many connections of each kind were opened, and how many the server closed. */
export type HordeResult = Readonly<Record<string, { readonly opened: number; readonly closed: number }>>;

/** The number of connections that are opened per second, and that leave per second. */
const OPENED_PER_SECOND = 1000;
const LEAVING_PER_SECOND = 200;

const horde = JSON.parse(process.argv[2] ?? '') as Horde;
const authorized = `Host: x\r\nAuthorization: Bearer ${horde.key}\r\n`;
const create = `POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
const counts: Record<string, { opened: number; closed: number }> = {};

function slowSender(start: string): (socket: Socket) => void {
  return (socket) => {
    socket.resume();
    socket.write(start);
    everySecond(socket, () => socket.write('x'));
  };
}

const KINDS: Readonly<Record<string, (socket: Socket) => void>> = {
  idle(socket) {
    socket.resume();
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  },
  'slow head': slowSender('GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: '),
  'slow body': slowSender(`${create}{"name":"`),
  'slow reader'(socket) {
    socket.pause();
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(horde.pipelined));
    everySecond(socket, () => socket.read(1));
  },
};

function everySecond(socket: Socket, act: () => void): void {
  const timer = setInterval(act, 1000);
  socket.once('close', () => clearInterval(timer));
}

function start(kind: string): void {
  const count = counts[kind] ?? { opened: 0, closed: 0 };
  counts[kind] = count;
  const socket = open(horde);
  socket.once('connect', () => {
    count.opened += 1;
    KINDS[kind]?.(socket);
  });
  socket.once('close', () => {
    count.closed += 1;
  });
}

const waiting = Object.keys(KINDS).flatMap((kind) =>
  Array.from({ length: kind === 'idle' ? horde.idle : horde.slow }, () => kind),
);
paced(100, () => {
  for (const kind of waiting.splice(0, OPENED_PER_SECOND / 100)) start(kind);
});
paced(LEAVING_PER_SECOND, (turn) => {
  const request = `${create}{"name":"Rex"`;
  sendAndReset(horde, request.slice(0, (turn % request.length) + 1));
});

/** The process exits like a client that crashes: every connection breaks. */
process.once('message', () => process.send?.(counts satisfies HordeResult, () => process.exit(0)));
process.once('disconnect', () => process.exit(0));
