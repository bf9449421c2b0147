import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpServerOptions } from '../../../src/adapters/http/api/options.ts';
import { newSharedLimits } from '../../../src/adapters/http/api/shared-limits.ts';
import type { HandleRequest } from '../../../src/adapters/http/node/connections.ts';
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

test('a connection is closed when its request cannot be handled, and the server continues', async () => {
  const { origin } = await startNodeServer(async (req, res) => {
    if (req.url === '/fails') throw new Error('cannot be handled');
    res.setHeader('Content-Length', 0).end();
  });
  const fetched = (target: string) => fetch(`${origin}${target}`).then(({ status }) => status);
  await expect(fetched('/fails')).rejects.toThrow('fetch failed');
  expect(await fetched('/')).toBe(200);
});

test('a request is in flight until its handler has passed the response to Node.js', async () => {
  const responses: ServerResponse[] = [];
  const { server, origin } = await startNodeServer(async (_req, res) => {
    responses.push(res);
    await once(res, 'finish');
  });
  const fetched = [fetch(origin), fetch(origin)];
  await expect.poll(() => responses.length).toBe(2);
  expect(server.statistics().requestsInFlight).toBe(2);
  for (const res of responses) res.end();
  await Promise.all(fetched);
  expect(server.statistics().requestsInFlight).toBe(0);
});

describe('a response that the client does not read', () => {
  /** More bytes than the buffers of both sockets. Until all are sent, they count for Node.js. */
  const BODY = Buffer.alloc(12 * 1024 * 1024);

  /** Starts a server whose responses to /large are not read. */
  async function start(options: HttpServerOptions) {
    const sockets: Socket[] = [];
    const handle: HandleRequest = async (req, res) => {
      if (req.url !== '/large') {
        res.end();
        await once(res, 'finish');
        return;
      }
      sockets.push(req.socket);
      res.end(BODY);
    };
    const { server, origin } = await startNodeServer(handle, options);
    const open = async () => {
      const before = sockets.length;
      const client = connect(Number(new URL(origin).port), '127.0.0.1').pause();
      client.on('error', () => {});
      onTestFinished(() => void client.destroy());
      client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
      await expect.poll(() => sockets.length).toBe(before + 1);
      return client;
    };
    return { server, origin, sockets, open };
  }

  /** Four threads have 32 MiB each. */
  const thread = { index: 0, count: 4, memory: newSharedLimits(4) };

  test('counts towards 128 MiB in all threads, beyond which the client that has waited longest is disconnected', async () => {
    const { open, sockets, server } = await start({ thread });
    for (let count = 0; count < 3; count += 1) await open();
    await expect.poll(() => server.statistics().connections).toBe(2);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  });

  test('does not count when the client has disconnected', async () => {
    const { open, sockets, server } = await start({ thread });
    await open();
    (await open()).destroy();
    await expect.poll(() => server.statistics().connections).toBe(1);
    await open();
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  });

  test('has a timeout that idle connections do not have', async () => {
    const { open, origin, sockets } = await start({ readingTimeout: 100 });
    const idle = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' });
    const isServed = async () => {
      idle.write(GET);
      const [head] = await once(idle, 'data');
      return String(head).startsWith('HTTP/1.1 200');
    };
    expect(await isServed()).toBe(true);
    await open();
    await expect.poll(() => sockets[0]?.destroyed).toBe(true);
    expect(await isServed()).toBe(true);
    idle.destroy();
  });
});

test('a connection that is closed makes room for another one among the servers of all threads', async () => {
  const thread = { index: 0, count: 2, memory: newSharedLimits(2) };
  const { server, origin } = await startNodeServer(async (_req, res) => void res.end(), {
    maxConnections: 1,
    thread,
  });
  for (let count = 0; count < 2; count += 1) {
    expect((await fetch(origin, { headers: { Connection: 'close' } })).status).toBe(200);
    await expect.poll(() => server.statistics().connections).toBe(0);
  }
});

test.skipIf(!hasIPv6)(`the URL of a server has an IPv6 address in brackets${NOTE}`, async () => {
  const { origin } = await startNodeServer(async (_req, res) => void res.end(), {}, '::1');
  expect(origin).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(origin)).status).toBe(200);
});
