/** Clients that send slowly. `recorded` tests the responses to a head and to a body that never end. */

import { expect, test } from 'vitest';
import { numberOf } from '../../../src/testing/fixtures/pets.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { startServer } from '../../support/server.ts';

const TIMEOUTS = { headersTimeout: 300, requestTimeout: 400 };

test('a client that sends a byte from time to time gets a 408', async () => {
  const { origin } = await startServer('memory', TIMEOUTS);
  const connection = await Connection.open(origin, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ');
  const drip = setInterval(() => connection.socket.write('x'), 20);
  const answers = await connection.rest();
  clearInterval(drip);
  expect(answers).toMatchObject([{ status: 408 }]);
});

test('a request that is completed after its timeout gets a 408, and is not handled', async () => {
  const { wrap, open, entered } = gate();
  const { origin, client, key, storage } = await startServer('memory', { wrap, ...TIMEOUTS });
  const { create } = pipelineOf(key);
  const begin = async (): Promise<Connection> => {
    const connection = await Connection.open(origin, `${create(1)}POST /v1/pets`);
    // If the machine pauses, the first request can get a 408, too. The server has not handled it, so the test sends it again.
    const isRefused = await Promise.race([entered.then(() => false), connection.closed.then(() => true)]);
    return isRefused ? begin() : connection;
  };
  const connection = await begin();
  // The timeout of a later request has also expired.
  const later = await Connection.open(origin, 'GET /v1');
  expect((await later.next()).status).toBe(408);
  connection.socket.write(create(2).slice('POST /v1/pets'.length));
  // The server has read what was sent before, and responds in time unless the machine pauses.
  await expect.poll(() => client.get('/livez')).toMatchObject({ status: 200 });
  open();
  expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 408]);
  expect((await storage.pets.list({ limit: 2 })).pets.map(numberOf)).toEqual([1n]);
});

test('a client that gets a response before it has sent the body gets no 408 after it', async () => {
  const { origin } = await startServer('memory', TIMEOUTS);
  const connection = await Connection.open(origin);
  connection.write('GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
  expect((await connection.next()).status).toBe(200);
  expect(await connection.rest()).toEqual([]);
});
