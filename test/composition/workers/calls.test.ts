import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { Calls } from '../../../src/composition/workers/calls.ts';

function connected(handlers: ConstructorParameters<typeof Calls>[1]): Calls {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  new Calls(port2, handlers);
  return new Calls(port1, {});
}

test('a call resolves with the result of the function in the other thread', async () => {
  const calls = connected({ double: async (value: number) => 2 * value });
  expect(await Promise.all([calls.call('double', 2), calls.call('double', 3)])).toEqual([4, 6]);
});

test('a call rejects with the message, the code and the reason of an error in the other thread', async () => {
  const calls = connected({
    fail() {
      throw new StorageFault('disk_full', 'the disk is full');
    },
  });
  await expect(calls.call('fail')).rejects.toMatchObject({
    message: 'the disk is full',
    code: 'storage_unavailable',
    reason: 'disk_full',
  });
});

test('when the other thread has exited, calls in flight and further calls reject', async () => {
  const calls = connected({ wait: () => new Promise(() => {}) });
  const waiting = calls.call('wait');
  const error = new Error('the thread has exited');
  calls.end(error);
  await expect(waiting).rejects.toBe(error);
  await expect(calls.call('wait')).rejects.toBe(error);
});
