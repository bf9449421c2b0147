/** Shared by the attacks: the target, sockets whose errors are ignored, and counts. */

import { connect, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
  readonly key: string;
}

/** The time between two connections of the same attack, in milliseconds. */
const OPENING_INTERVAL = 2;

/** Continues until the process exits. `did` counts actions. */
export type Attack = (target: Target, did: (what: string) => void) => void;

/** Errors and closed connections are part of an attack, so they are ignored. */
export function open({ port }: Target): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  return socket;
}

/** Sends the bytes, then resets the connection before the server responds. */
export function sendAndReset(target: Target, bytes: string): void {
  const socket = open(target);
  socket.once('connect', () =>
    socket.write(bytes, 'latin1', () => setImmediate(() => socket.resetAndDestroy())),
  );
}

/** Calls a function at an even rate per second. */
export function paced(perSecond: number, act: (turn: number) => void): void {
  let turn = 0;
  setInterval(() => {
    act(turn);
    turn += 1;
  }, 1000 / perSecond);
}

/**
 * Keeps `count` connections open, each for at most `seconds`. The first ones are shorter, so that they do not end
 * together. A closed connection is replaced after a second.
 *
 * @param use is called with each new connection
 */
export function keepOpen(
  target: Target,
  count: number,
  seconds: number,
  use: (socket: Socket) => void,
): void {
  const start = (lifetime: number) => {
    const socket = open(target);
    const timer = setTimeout(() => socket.resetAndDestroy(), lifetime * 1000);
    socket.once('close', () => {
      clearTimeout(timer);
      setTimeout(start, 1000, seconds);
    });
    use(socket);
  };
  for (let index = 0; index < count; index += 1)
    setTimeout(start, index * OPENING_INTERVAL, seconds * (0.25 + (0.75 * index) / count));
}

export function authorized({ key }: Target): string {
  return `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
}
