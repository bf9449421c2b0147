import { expect, test } from 'vitest';
import { SlowClients } from '../../../src/adapters/http/api/slow-clients.ts';

class Client {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
  }
}

function start() {
  const clients = [new Client(), new Client(), new Client()] as const;
  const destroyed = () => clients.map(({ isDestroyed }) => isDestroyed);
  return { slow: new SlowClients(1000), clients, destroyed };
}

test('beyond the limit, the client without progress for the longest time is given up', () => {
  const { slow, clients, destroyed } = start();
  const [first, second, third] = clients;
  slow.hold(first, 300);
  slow.hold(first, 100);
  slow.hold(second, 400);
  slow.release(first, 300);
  slow.hold(third, 500);
  expect(destroyed()).toEqual([false, false, false]);
  slow.hold(third, 300);
  expect(destroyed()).toEqual([false, true, false]);
  // What is left: 100 of the first client and 800 of the third one.
  slow.hold(third, 100);
  expect(destroyed()).toEqual([false, true, false]);
  slow.hold(third, 1);
  expect(destroyed()).toEqual([true, true, false]);
});

test('as many clients are given up as needed, also the one that exceeds the limit', () => {
  const { slow, clients, destroyed } = start();
  for (const client of clients) slow.hold(client, 400);
  expect(destroyed()).toEqual([true, false, false]);
  slow.hold(clients[2], 700);
  expect(destroyed()).toEqual([true, true, true]);
});

test('what was sent or read, and clients that have left or were given up, are no longer counted', () => {
  const { slow, clients, destroyed } = start();
  const [first, second, third] = clients;
  for (let count = 0; count < 20; count += 1) {
    slow.hold(first, 600);
    slow.release(first, 600);
    slow.hold(second, 600);
    slow.release(second);
  }
  expect(destroyed()).toEqual([false, false, false]);
  slow.hold(first, 600);
  slow.hold(second, 600);
  expect(destroyed()).toEqual([true, false, false]);
  slow.release(first, 600);
  slow.release(first);
  slow.hold(third, 400);
  expect(destroyed()).toEqual([true, false, false]);
  slow.hold(third, 1);
  expect(destroyed()).toEqual([true, true, false]);
});
