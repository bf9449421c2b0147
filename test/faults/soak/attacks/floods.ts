/** Floods of requests that are refused. */

import { randomBytes } from 'node:crypto';
import { type Attack, open, paced } from './attack.ts';

const BATCH = 50;

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
