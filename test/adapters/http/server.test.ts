import { once } from 'node:events';
import { connect, Server as NetServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createServer } from '../../../src/adapters/http/index.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { startNodeServer } from '../../support/node-server.ts';
import { refusal } from '../../support/refusal.ts';
import { startServer } from '../../support/server.ts';

const hasIPv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
);
const NOTE = hasIPv6 ? '' : ' (skipped: this machine has no IPv6)';

test('a server leaves no timer after its stop', async () => {
  const { server } = await startServer('memory');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await server.stop(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('a connection that cannot be accepted and a body whose stream fails are reported', async () => {
  const onFailure = vi.fn();
  const [refused, broken] = [new Error('accept EMFILE'), new Error('the disk failed')];
  using listen = vi.spyOn(NetServer.prototype, 'listen');
  function* chunks() {
    yield 'a';
    throw broken;
  }
  const { client } = await startServer('memory', {
    observers: [{ onFailure }],
    middleware: { afterKey: [(ctx) => Object.assign(ctx, { body: Readable.from(chunks()) })] },
  });
  (listen.mock.contexts[0] as NetServer).emit('error', refused);
  await client.get('/v1/pets').catch(() => {});
  expect(onFailure.mock.calls).toEqual([
    ['accepting a connection', refused],
    ['the stream of a response body', broken],
  ]);
});

test('the number of connections is limited, and a closed one makes room', async () => {
  const { server, origin } = await startNodeServer((_req, res) => void res.end(), { maxConnections: 1 });
  const open = () => connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  const first = open();
  await expect.poll(() => server.statistics().connections).toBe(1);
  await once(open(), 'close');
  expect(server.statistics().refused).toMatchObject({ max_connections: 1 });
  first.destroy();
  await expect.poll(() => server.statistics().connections).toBe(0);
  expect((await fetch(origin, { headers: { Connection: 'close' } })).status).toBe(200);
});

test.skipIf(!hasIPv6)(`the URL of a server has an IPv6 address in brackets${NOTE}`, async () => {
  const { origin } = await startNodeServer((_req, res) => void res.end(), {}, '::1');
  expect(origin).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(origin)).status).toBe(200);
});

test('one timeout alone changes the default of the other one, and two that contradict each other are refused', async () => {
  const handle = () => {};
  for (const options of [{ requestTimeout: 5000 }, { headersTimeout: 60_000 }, { requestTimeout: 0 }])
    await startNodeServer(handle, options);
  await expect(startNodeServer(handle, { headersTimeout: 500, requestTimeout: 400 })).rejects.toThrow(
    refusal('headersTimeout: expected at most requestTimeout (400), got 500'),
  );
});

test.each([0, 60_000])(
  'a server that is stopped before it listens never listens, with the timeout %d',
  async (timeout) => {
    using listen = vi.spyOn(NetServer.prototype, 'listen');
    const server = createServer(new AnimalStore(openMemoryStorage()));
    const refused = expect(server.listen(0, 'localhost')).rejects.toThrow('the server was stopped');
    await server.stop(timeout);
    await refused;
    await expect(server.listen(0, '127.0.0.1')).rejects.toThrow('the server was stopped');
    expect((listen.mock.contexts[0] as NetServer).listening).toBe(false);
  },
);

test('a server that could not listen can listen on another port, but on one port only', async () => {
  const { origin } = await startNodeServer(() => {});
  const server = createServer(new AnimalStore(openMemoryStorage()));
  onTestFinished(() => server.stop(0));
  await expect(server.listen(Number(new URL(origin).port), '127.0.0.1')).rejects.toThrow('EADDRINUSE');
  await server.listen(0, '127.0.0.1');
  await expect(server.listen(0, '127.0.0.1')).rejects.toThrow('more than once');
});
