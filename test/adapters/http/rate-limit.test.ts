import { describe, expect, test } from 'vitest';
import { stopClock } from '../../support/clock.ts';
import { startServer, type TestServer } from '../../support/server.ts';

/** Starts a server that accepts 3 requests in 60 seconds of each caller, and stops the clock. */
async function startLimited(): Promise<TestServer> {
  const server = await startServer('memory', { rateLimit: { requests: 3, seconds: 60 } });
  stopClock();
  return server;
}

async function statuses(server: TestServer, count: number, key = server.key): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) {
    found.push((await server.client.request('GET', '/v1/pets', { key })).status);
  }
  return found;
}

describe('the rate limit', () => {
  test('refuses further requests of a caller: another key has its own limit, which its successor shares', async () => {
    const server = await startLimited();
    const { apiKeys } = server.store;
    const other = await apiKeys.create('other');
    const { key: successor } = await apiKeys.rotate(other.about.id, 60_000);
    expect(await statuses(server, 3)).toEqual([200, 200, 200]);
    const { status, headers, body } = await server.client.get('/v1/pets');
    expect([status, headers['retry-after']]).toEqual([429, '20']);
    expect(body).toContain('"too many requests with this API key: retry after 20 s"');
    expect(await statuses(server, 2, other.key)).toEqual([200, 200]);
    expect(await statuses(server, 2, successor)).toEqual([200, 429]);
    expect(server.server.statistics().refused).toEqual({ overloaded: 0, rate_limited: 2 });
    expect(server.errors).toEqual([]);
  });
});
