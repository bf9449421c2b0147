import { expect, test } from 'vitest';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { numbers, pipelineOf } from '../../support/pipeline.ts';
import { startServer } from '../../support/server.ts';
import { REX } from './paths.ts';

/** The maximum number of requests in flight, and of unanswered ones per connection. */
const LIMIT = 2000;
const PIPELINE = 16;

const metrics = { contentType: 'text/plain', text: async () => 'up 1\n' };

test('beyond the limit of requests in flight, all but health checks and metrics get 503, and nothing is stored', async () => {
  const { wrap, open, waiting } = gate('list');
  const { client, key, origin, server, storage, errors } = await startServer('memory', { wrap, metrics });
  const { get } = pipelineOf(key);
  const connections = await Promise.all(
    numbers(LIMIT / PIPELINE).map(() => Connection.open(origin, get('/v1/pets').repeat(PIPELINE))),
  );
  await expect.poll(waiting).toBe(LIMIT);
  expect(server.statistics()).toMatchObject({ requestsInFlight: LIMIT, refused: { overloaded: 0 } });
  for (const answer of [await client.get('/v1/pets'), await client.post(REX)]) {
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'overloaded' });
  }
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await client.get(path)).status).toBe(200);
  expect(server.statistics().refused).toMatchObject({ overloaded: 2, rate_limited: 0 });
  open();
  for (const connection of connections) {
    for (const _ of numbers(PIPELINE)) expect((await connection.next()).status).toBe(200);
    connection.destroy();
  }
  expect((await client.get('/v1/pets')).status).toBe(200);
  expect((await storage.pets.list({ limit: 1 })).pets).toEqual([]);
  expect(errors).toHaveLength(2);
});
