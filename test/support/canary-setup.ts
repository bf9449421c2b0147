/**
 * Runs around each file of tests. Each API key that a test sends over a socket is registered, and each byte that a test
 * receives from a socket is checked: a test fails if a response contains an API key.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, afterEach } from 'vitest';
import { expectNoNotedKeys, noteKeys, registerKey } from './canary.ts';

/** A part of a key can be at the end of one chunk, and the rest at the start of the next one. */
const TAIL_LENGTH = 64;

const SENT_KEY = /^authorization: *bearer +([\x21-\x7e]+)\r$/gim;

subscribe('net.client.socket', (message) => watch((message as { socket: Socket }).socket));
afterEach(expectNoNotedKeys);
afterAll(expectNoNotedKeys);

function watch(socket: Socket): void {
  watchRead(socket);
  // `net.connect` sets `write` after this call.
  queueMicrotask(() => watchWritten(socket));
}

/** `push` receives each chunk that the socket reads. */
function watchRead(socket: Socket): void {
  const { push } = socket;
  let tail = '';
  socket.push = (chunk, encoding) => {
    if (chunk !== null) {
      const text = tail + textOf(chunk);
      tail = noteKeys(text, 'a response') ? '' : text.slice(-TAIL_LENGTH);
    }
    return push.call(socket, chunk, encoding);
  };
}

function watchWritten(socket: Socket): void {
  const write = socket.write as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    for (const [, key = ''] of textOf(args[0]).matchAll(SENT_KEY)) registerKey(key);
    return write.apply(socket, args);
  };
}

function textOf(chunk: unknown): string {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('latin1');
}
