import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Api } from '../../../src/adapters/http/api/api.ts';
import { createNodeServer } from '../../../src/adapters/http/node/server.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { cannotExpress } from '../../support/carrier.ts';
import { Connection } from '../../support/connection.ts';
import { startServer } from '../../support/server.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
const hasIPv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
);

describe('a server', () => {
  test.each<[string, message: string, status: number, code: string]>([
    ['that is not HTTP', 'garbage\r\n\r\n', 400, 'invalid_request'],
    ['with CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    [
      'with an unknown expectation',
      'GET /livez HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'that announces an invalid body',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
      401,
      'unauthorized',
    ],
    ...(cannotExpress('a missing Host')
      ? []
      : [
          ['without Host', 'GET /livez HTTP/1.1\r\n\r\n', 400, 'invalid_request'] as [
            string,
            string,
            number,
            string,
          ],
        ]),
  ])('responds itself to a message %s', async (_case, message, status, code) => {
    const { origin } = await startServer('memory');
    const connection = await Connection.open(origin);
    connection.write(message);
    const answer = await connection.next();
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
    expect(connection.interim).toEqual([]);
    connection.destroy();
  });

  test('closes connections beyond `maxConnections` at once, and by default has no limit', async () => {
    for (const maxConnections of [2, undefined]) {
      const { origin } = await startServer('memory', { maxConnections });
      const connections = await Promise.all(Array.from({ length: 6 }, () => Connection.open(origin)));
      for (const connection of connections) connection.write(GET);
      const answers = await Promise.allSettled(connections.map((connection) => connection.next()));
      const served = answers.filter(({ status }) => status === 'fulfilled');
      expect(served).toHaveLength(maxConnections ?? connections.length);
      for (const connection of connections) connection.destroy();
    }
  });

  test('leaves no timer after its stop', async () => {
    const { server } = await startServer('memory');
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await server.stop(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function anyApi(): Api {
  return new Api(new AnimalStore(openMemoryStorage()), {}, () => () => undefined);
}

test('a connection is closed when its request cannot be handled, and the server continues', async () => {
  const server = createNodeServer(
    async (req, res) => {
      if (req.url === '/fails') throw new Error('cannot be handled');
      res.setHeader('Content-Length', 0).end();
    },
    anyApi(),
    {},
  );
  const origin = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.stop(0));
  const fetched = (target: string) => fetch(`${origin}${target}`).then(({ status }) => status);
  await expect(fetched('/fails')).rejects.toThrow('fetch failed');
  expect(await fetched('/')).toBe(200);
});

test.skipIf(!hasIPv6)('the URL of a server has an IPv6 address in brackets', async () => {
  const server = createNodeServer(async (_req, res) => void res.end(), anyApi(), {});
  const origin = await server.listen(0, '::1');
  onTestFinished(() => server.stop(0));
  expect(origin).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(origin)).status).toBe(200);
});
