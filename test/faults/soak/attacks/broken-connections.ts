/** Clients that disconnect during a request, a tunnel or an upgrade. */

import { type Attack, authorized, open, paced, sendAndReset } from './attack.ts';

/** The name of the pets that these clients create. */
export const LEFT_BEHIND = 'left behind by a reset';

/** Resets a create after each of its bytes in turn, repeatedly. */
export const resets: Attack = (target, did) => {
  const body = JSON.stringify({ name: LEFT_BEHIND, categoryId: 1 });
  const head = `POST /v1/pets HTTP/1.1\r\n${authorized(target)}Content-Type: application/json\r\n`;
  const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  paced(50, (turn) => {
    sendAndReset(target, request.slice(0, (turn % request.length) + 1));
    did('resets');
  });
};

export const connects: Attack = (target, did) => {
  paced(50, (turn) => {
    const authority = turn % 2 === 0 ? 'example.org:443' : '/v1/pets';
    sendAndReset(target, `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n${'x'.repeat((turn % 5) * 1000)}`);
    did('resets');
  });
};

export const upgrades: Attack = (target, did) => {
  const protocols = ['websocket', 'h2c', 'x'];
  paced(50, (turn) => {
    const protocol = protocols[turn % protocols.length];
    const request = `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
    if (turn % 2 === 0) sendAndReset(target, `${request}${'\x81'.repeat(500)}`);
    else {
      const socket = open(target);
      socket.once('data', () => socket.destroy());
      socket.write(request);
    }
    did('upgrades');
  });
};
