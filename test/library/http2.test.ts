/** The app as a listener of HTTP/2, whose requests have no Host, no transfer coding and a version of their own. */

import { once } from 'node:events';
import { connect, createServer, type OutgoingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpApp } from '../../src/adapters/http/index.ts';
import { createAnimalStore } from '../../src/library/index.ts';

test('an app answers as a listener of node:http2', async () => {
  const store = await createAnimalStore({ database: 'memory:' });
  const { key } = await store.apiKeys.create('me');
  const server = createServer(createHttpApp(store).callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  const get = async (headers: OutgoingHttpHeaders): Promise<[unknown, string]> => {
    const stream = session.request(headers);
    const [response] = await once(stream, 'response');
    return [response[':status'], await text(stream)];
  };
  const authorization = `Bearer ${key}`;
  expect(await get({ ':path': '/livez' })).toEqual([200, '{"status":"ok"}']);
  expect(await get({ ':path': '/v1/pets', authorization })).toEqual([200, '[]']);
  expect(await get({ ':path': '/v1/pets' })).toMatchObject([401, expect.stringContaining('unauthorized')]);
  expect(await get({ ':path': '/docs' })).toMatchObject([200, expect.stringContaining('Animal Store')]);
});
