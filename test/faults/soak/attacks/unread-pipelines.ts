/** Clients that send pipelines and never read the responses. */

import { type Attack, authorized, keepOpen, type Target } from './attack.ts';

const PIPELINE_BYTES = 256 * 1024;

/** In seconds. After this time the client resets the connection. */
const LIFETIME = 60;

const unread =
  (count: number, request: (target: Target) => string): Attack =>
  (target, did) => {
    const text = request(target);
    const bytes = Buffer.from(text.repeat(Math.ceil(PIPELINE_BYTES / text.length)));
    keepOpen(target, count, LIFETIME, (socket) => {
      did('connections');
      socket.pause();
      socket.write(bytes);
    });
  };

export const unreadDocument: Attack = unread(30, () => 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');

export const unreadRefusals: Attack = unread(100, () => 'GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n');

export const unreadLists: Attack = unread(
  60,
  (target) => `GET /v1/pets?limit=100 HTTP/1.1\r\n${authorized(target)}\r\n`,
);
