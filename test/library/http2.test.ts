/** The app as a listener of HTTP/2, whose requests have no Host, no transfer coding and a version of their own. */

import { once } from 'node:events';
import { connect, createServer, type OutgoingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpApp } from '../../src/adapters/http/index.ts';
import { REX_JSON } from '../support/pets.ts';
import { listen } from '../support/sockets.ts';
import { openStore } from './open-store.ts';

test('an app answers as a listener of node:http2', async () => {
  const { store, headers: own } = await openStore();
  const session = connect(await listen(createServer(createHttpApp(store).callback())));
  onTestFinished(() => session.destroy());
  const get = async (headers: OutgoingHttpHeaders, body?: string): Promise<[unknown, string]> => {
    const stream = session.request(headers);
    if (body !== undefined) stream.end(body);
    const [response] = await once(stream, 'response');
    return [response[':status'], await text(stream)];
  };
  const authorization = own.Authorization;
  expect(await get({ ':path': '/livez' })).toEqual([200, '{"status":"ok"}']);
  expect(await get({ ':path': '/v1/pets', authorization })).toEqual([200, '[]']);
  expect(await get({ ':path': '/v1/pets' })).toMatchObject([401, expect.stringContaining('unauthorized')]);
  const fields = { ':method': 'POST', ':path': '/v1/pets', 'content-type': 'application/json' };
  const create = (body: string) => get({ ...fields, authorization }, body);
  expect(await create(REX_JSON)).toEqual([201, REX_JSON.replace('{', '{"id":1,')]);
  expect(await create('')).toEqual([400, expect.stringContaining('the body is missing')]);
  expect(await create(REX_JSON.padEnd(70_000))).toEqual([413, expect.stringContaining('payload_too_large')]);
  expect(await get({ ':path': '/docs' })).toMatchObject([200, expect.stringContaining('Animal Store')]);
});
