/** Floods of requests that are refused. */

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Attack, keepOpen, open, paced } from './attack.ts';

const BATCH = 50;

/** The number of connections of each flood. */
const FLOOD_CONNECTIONS = 500;

/** In seconds. After this time the client resets the connection. */
const LIFETIME = 60;

/** 2,000 invalid keys per second, in pipelines whose responses are read. */
export const wrongKeys: Attack = (target, did) => {
  const connections = Array.from({ length: 4 }, () => open(target).resume());
  paced(40, (turn) => {
    const index = turn % connections.length;
    if (connections[index]?.destroyed) connections[index] = open(target).resume();
    const key = randomBytes(24).toString('base64url');
    const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pets_${key}\r\n\r\n`;
    connections[index]?.write(request.repeat(BATCH));
    for (let count = 0; count < BATCH; count += 1) did('requests');
  });
};

/** Data that is not HTTP: noise, TLS, HTTP/2. Half of the clients never read the response. */
export const garbage: Attack = (target, did) => {
  const openings = [
    '',
    '\x16\x03\x01\x02\0\x01\0',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/1.1\r\n: x\r\n\r\n',
  ];
  paced(50, (turn) => {
    const socket = open(target);
    if (turn % 2 === 0) socket.resume();
    setTimeout(() => socket.resetAndDestroy(), 500);
    const opening = Buffer.from(openings[turn % openings.length] ?? '', 'latin1');
    socket.write(Buffer.concat([opening, randomBytes(2000)]));
    did('connections');
  });
};

/** Sends the request on a connection, and again with each part of a response. */
function repeat(socket: Socket, request: string, did: () => void): void {
  const send = () => {
    did();
    socket.write(request);
  };
  socket.once('connect', send);
  socket.on('data', send);
}

/** Clients that send the next request as soon as they have a response. */
const flood =
  (request: string): Attack =>
  (target, did) => {
    keepOpen(target, FLOOD_CONNECTIONS, LIFETIME, (socket) => repeat(socket, request, () => did('requests')));
  };

export const refusedFlood: Attack = flood(
  'GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pets_wrong\r\n\r\n',
);

export const healthFlood: Attack = flood('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');

export const preflightFlood: Attack = flood(
  'OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\nOrigin: https://example.org\r\nAccess-Control-Request-Method: GET\r\n\r\n',
);

/** Clients that open a new connection after each 100 responses. */
export const reconnects: Attack = (target, did) => {
  const request = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer pets_wrong\r\n\r\n';
  const start = () => {
    const socket = open(target);
    let count = 0;
    repeat(socket, request, () => {
      count += 1;
      did('requests');
      if (count === 100) socket.destroy();
    });
    socket.once('close', () => setImmediate(start));
  };
  for (let index = 0; index < FLOOD_CONNECTIONS; index += 1) start();
};
