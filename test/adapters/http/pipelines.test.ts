import { describe, expect, test } from 'vitest';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { numbersIn } from '../../support/pets.ts';
import { numbers, pipelineOf } from '../../support/pipeline.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

/** The maximum number of requests that a client can send without waiting for a response. */
const LIMIT = 16;

test.each(STORAGES)('creates in one pipeline get their responses in order, on %s', async (storage) => {
  const { origin, client, key } = await startServer(storage);
  const { create } = pipelineOf(key);
  const connection = await Connection.open(origin);
  connection.write(
    numbers(LIMIT)
      .map((number) => create(number))
      .join(''),
  );
  const created: { id: number }[] = [];
  for (const number of numbers(LIMIT)) {
    const { status, body } = await connection.next();
    expect([status, numbersIn(`[${body}]`)]).toEqual([201, [number]]);
    created.push(JSON.parse(body));
  }
  // Creates in progress at the same time can get their ids in any order.
  const { body } = await client.get('/v1/pets?limit=100');
  expect(JSON.parse(body)).toEqual(created.toSorted((a, b) => a.id - b.id));
});

test('a client that closes its side after its requests gets their responses', async () => {
  const { wrap, open, entered } = gate();
  const { origin, key } = await startServer('memory', { wrap });
  const { create } = pipelineOf(key);
  const connection = await Connection.open(origin);
  connection.write(create(1) + create(2));
  connection.socket.end();
  await entered;
  open();
  expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 201]);
});

describe('requests in one pipeline', () => {
  const server = sharedServer('memory');

  test.each([LIMIT + 1, 5000])(
    'that are %i: the first sixteen get their responses, the last of them closes the connection',
    async (count) => {
      const { wrap, open, waiting } = gate();
      const { origin, client, key } = await startServer('memory', { wrap });
      const { create, get } = pipelineOf(key);
      const connection = await Connection.open(origin);
      connection.write(create(1).repeat(LIMIT) + create(2) + get('/v1/pets').repeat(count - LIMIT - 1));
      await expect.poll(waiting).toBe(LIMIT);
      expect((await client.get('/livez')).status).toBe(200);
      open();
      const answers = await connection.rest();
      expect(answers.map(({ status }) => status)).toEqual(numbers(LIMIT).map(() => 201));
      expect(answers.findIndex(({ headers }) => headers['connection'] === 'close')).toBe(LIMIT - 1);
      const { body } = await client.get('/v1/pets?limit=100');
      expect(numbersIn(body)).toEqual(numbers(LIMIT).map(() => 1));
    },
  );

  test('after a request that is too large are not read', async () => {
    const { create } = pipelineOf(server.key);
    const list = async () => (await server.client.get('/v1/pets?limit=100')).body;
    const before = await list();
    const large = create(1, 70_000);
    const connection = await Connection.open(server.origin);
    connection.write(large + create(2).repeat(3));
    expect((await connection.rest()).map(({ status }) => status)).toEqual([413]);
    expect(await list()).toBe(before);
    expect(server.errors).toEqual([]);
  });
});
