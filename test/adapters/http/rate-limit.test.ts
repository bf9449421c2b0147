import { describe, expect, test } from 'vitest';
import { Load } from '../../../src/adapters/http/overload.ts';
import { METRICS_PATH } from '../../../src/adapters/http/paths.ts';
import { limitRate } from '../../../src/adapters/http/rate-limit.ts';
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
  for (let index = 0; index < count; index += 1)
    found.push((await server.client.request('GET', '/v1/pets', { key })).status);
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
    expect(server.server.statistics().refused).toMatchObject({ overloaded: 0, rate_limited: 2 });
    expect(server.errors).toEqual([]);
  });

  /** Returns a function that tells whether a request is accepted. Each caller has 1 request in 60 seconds. */
  function acceptance() {
    const limit = limitRate({ requests: 1, seconds: 60 }, new Load());
    return (id: string | undefined, path = '/v1/pets') => {
      const holder = id === undefined ? undefined : { id, name: id };
      try {
        limit({ state: { animalStore: { holder, path } } } as never, async () => {});
        return true;
      } catch {
        return false;
      }
    };
  }

  test('is not for metrics, and not for requests without a key', () => {
    const isAccepted = acceptance();
    expect([isAccepted('1'), isAccepted('1')]).toEqual([true, false]);
    for (let count = 0; count < 2; count += 1)
      expect([isAccepted('1', METRICS_PATH), isAccepted(undefined)]).toEqual([true, true]);
    expect(isAccepted('1')).toBe(false);
  });

  test('remembers 16,384 callers, and forgets the one whose last accepted request is the oldest', () => {
    const clock = stopClock();
    const isAccepted = acceptance();
    expect([isAccepted('first'), isAccepted('second')]).toEqual([true, true]);
    clock.pass(60_000);
    expect(isAccepted('first')).toBe(true);
    for (let id = 3; id <= 16_384; id += 1) isAccepted(String(id));
    expect([isAccepted('first'), isAccepted('3')]).toEqual([false, false]);
    // The bucket of the second caller is full again, but it is the oldest.
    isAccepted('one more');
    expect([isAccepted('first'), isAccepted('3')]).toEqual([false, false]);
    isAccepted('yet one more');
    expect([isAccepted('3'), isAccepted('first')]).toEqual([false, true]);
  });
});
