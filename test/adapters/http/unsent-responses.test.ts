import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { UnsentResponses } from '../../../src/adapters/http/node/unsent-responses.ts';

/** Stands in for a connection whose client reads only when `finish` is emitted on a response. */
class Reader extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
  }
}

function responseOf(size: number): ServerResponse {
  return Object.assign(new EventEmitter(), { writableLength: size }) as unknown as ServerResponse;
}

function add(unsent: UnsentResponses, reader: Reader, size: number): ServerResponse {
  const response = responseOf(size);
  unsent.add(response, reader as unknown as Socket);
  return response;
}

test('beyond the limit, the connection without progress for the longest time is closed', () => {
  const unsent = new UnsentResponses(1000);
  const [first, second, third] = [new Reader(), new Reader(), new Reader()];
  const response = add(unsent, first, 300);
  add(unsent, first, 100);
  add(unsent, second, 400);
  response.emit('finish');
  add(unsent, third, 500);
  expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  add(unsent, third, 300);
  expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  expect(unsent.size).toBe(900);
});

test('responses that were sent, and closed connections, are no longer counted', () => {
  const unsent = new UnsentResponses(1000);
  const [first, second] = [new Reader(), new Reader()];
  const response = add(unsent, first, 600);
  add(unsent, second, 300);
  expect(unsent.size).toBe(900);
  response.emit('finish');
  expect(unsent.size).toBe(300);
  second.destroy();
  unsent.forget(second as unknown as Socket);
  expect(unsent.size).toBe(0);
  add(unsent, second, 300);
  expect(unsent.size).toBe(0);
  for (let count = 0; count < 20; count += 1) add(unsent, first, 100).emit('finish');
  expect(unsent.size).toBe(0);
  expect(first.destroyed).toBe(false);
});

test('the files of the reference page count as 192 KiB at most', () => {
  const unsent = new UnsentResponses();
  add(unsent, new Reader(), 10_000_000);
  expect(unsent.size).toBe(192 * 1024);
});
