import { expect, test } from 'vitest';
import { startServer } from '../../support/server.ts';

const metrics = { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: async () => 'up 1\n' };

test('GET /metrics responds with the metrics, and needs an API key', async () => {
  const { client } = await startServer('memory', { metrics });
  const answer = await client.get('/metrics');
  expect(answer).toMatchObject({ status: 200, body: 'up 1\n' });
  expect(answer.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  });
  expect((await client.request('GET', '/metrics', { key: null })).status).toBe(401);
  expect((await client.request('GET', '/metrics/', { key: null })).status).toBe(404);
  expect((await client.request('POST', '/metrics')).status).toBe(405);
  expect(await client.request('HEAD', '/metrics')).toMatchObject({ status: 200, body: '' });
});

test('without metrics, the path does not exist', async () => {
  const { client } = await startServer('memory');
  expect((await client.request('GET', '/metrics', { key: null })).status).toBe(404);
});

test('a request for metrics counts for no rate limit, and the server counts what it refuses', async () => {
  const { client, server } = await startServer('memory', {
    metrics,
    rateLimit: { requests: 1, seconds: 3600 },
  });
  for (let index = 0; index < 5; index++) expect((await client.get('/metrics')).status).toBe(200);
  expect((await client.get('/v1/pets')).status).toBe(200);
  expect((await client.get('/v1/pets')).status).toBe(429);
  expect((await client.get('/metrics')).status).toBe(200);
  expect(server.statistics()).toMatchObject({ refused: { rate: 1, busy: 0, creates: 0, stopping: 0 } });
});

test('the server counts its connections and the requests in flight', async () => {
  let end = (): void => {};
  const { client, server } = await startServer('memory', {
    metrics: { ...metrics, text: () => new Promise((resolve) => (end = () => resolve('up 1\n'))) },
  });
  const waiting = client.get('/metrics');
  await expect.poll(() => server.statistics()).toMatchObject({ connections: 1, requestsInFlight: 1 });
  end();
  await waiting;
  expect(server.statistics()).toMatchObject({ connections: 1, requestsInFlight: 0 });
});
