import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startNodeServer } from '../../support/node-server.ts';
import { startServer } from '../../support/server.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
const hasIPv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
);
const NOTE = hasIPv6 ? '' : ' (skipped: this machine has no IPv6)';

test('a server leaves no timer after its stop', async () => {
  const { server } = await startServer('memory');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  await server.stop(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('a used port is an error of listen, and the server can listen on another one', async () => {
  const first = await startServer('memory');
  const { server } = await startNodeServer((_req, res) => void res.end());
  const { port } = new URL(first.origin);
  const other = await startNodeServer((_req, res) => void res.end());
  await other.server.stop(0);
  await expect(other.server.listen(Number(port), '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(server.statistics().connections).toBe(0);
});

test('the number of connections is limited, and a closed one makes room', async () => {
  const { server, origin } = await startNodeServer((_req, res) => void res.end(), { maxConnections: 1 });
  const open = () => connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  const first = open();
  await expect.poll(() => server.statistics().connections).toBe(1);
  const second = open();
  await once(second, 'close');
  first.destroy();
  await expect.poll(() => server.statistics().connections).toBe(0);
  expect((await fetch(origin, { headers: { Connection: 'close' } })).status).toBe(200);
});

test('a client that reads nothing of a response is disconnected, and an idle one is not', async () => {
  const sockets: Socket[] = [];
  const respond = (socket: Socket, res: ServerResponse) => {
    sockets.push(socket);
    // More bytes than the buffers of both sockets.
    res.end(Buffer.alloc(12 * 1024 * 1024));
  };
  const { origin } = await startNodeServer(
    (req, res) => (req.url === '/large' ? respond(req.socket, res) : void res.end()),
    { readingTimeout: 100 },
  );
  const port = Number(new URL(origin).port);
  const idle = connect(port, '127.0.0.1');
  const isServed = async () => {
    idle.write(GET);
    const [head] = await once(idle, 'data');
    return String(head).startsWith('HTTP/1.1 200');
  };
  expect(await isServed()).toBe(true);
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => {});
  client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  expect(await isServed()).toBe(true);
  for (const socket of [idle, client]) socket.destroy();
});

test.skipIf(!hasIPv6)(`the URL of a server has an IPv6 address in brackets${NOTE}`, async () => {
  const { origin } = await startNodeServer((_req, res) => void res.end(), {}, '::1');
  expect(origin).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(origin)).status).toBe(200);
});

test('times that Node.js does not support are refused', async () => {
  await expect(startServer('memory', { headersTimeout: 500, requestTimeout: 400 })).rejects.toThrow(
    'headersTimeout',
  );
});
