/** What the attacks share: where the server is, sockets that nobody has to care for, and a count of what was done. */

import { connect, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
  readonly key: string;
}

/** Goes on until the process ends. `did` counts. */
export type Attack = (target: Target, did: (what: string) => void) => void;

/** Errors and ends are part of an attack. */
export function open({ port }: Target): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  return socket;
}

/** Sends the bytes, then resets the connection, so that the server's response meets a broken one. */
export function sendAndReset(target: Target, bytes: string): void {
  const socket = open(target);
  socket.once('connect', () =>
    socket.write(bytes, 'latin1', () => setImmediate(() => socket.resetAndDestroy())),
  );
}

/** So many times a second, evenly. */
export function paced(perSecond: number, act: (turn: number) => void): void {
  let turn = 0;
  setInterval(() => {
    act(turn);
    turn += 1;
  }, 1000 / perSecond);
}

/**
 * Keeps so many connections, each for so many seconds at the most, the first ones for less, so that they do not end
 * at once. What is closed before is replaced after a second.
 *
 * @param use what happens on a new one
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
  for (let index = 0; index < count; index += 1) start(seconds * (0.25 + (0.75 * index) / count));
}

export function authorized({ key }: Target): string {
  return `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
}
