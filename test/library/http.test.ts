/** The server of a store that a program embeds, and an app behind other code. `middleware.test.ts` has the mounted API. */

import { createServer as createNodeServer, type IncomingMessage } from 'node:http';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { expect, test } from 'vitest';
import { createHttpApp, createServer } from '../../src/adapters/http/index.ts';
import { REX_JSON, REX as REX_PET } from '../support/pets.ts';
import { listen } from '../support/sockets.ts';
import { openStore } from './open-store.ts';

test('a body that the host has read is an error of the host', async () => {
  const { store, headers, errors, observers } = await openStore();
  const app = createHttpApp(store, { observers });
  const callback = app.callback();
  const host = (read: (req: IncomingMessage) => unknown) =>
    listen(createNodeServer((req, res) => void Promise.resolve(read(req)).then(() => callback(req, res))));
  const withParser = new Koa().use(bodyParser());
  for (const middleware of app.middleware) withParser.use(middleware);
  for (const url of [
    await host((req) => req.toArray()),
    await host((req) => req.setEncoding('utf8')),
    await listen(createNodeServer(withParser.callback())),
  ])
    expect((await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: REX_JSON })).status).toBe(500);
  expect(errors).toEqual(Array(3).fill(expect.stringContaining('the body was read before this API')));
});

test('a server listens, stops, and leaves the store open', async () => {
  const { store, headers } = await openStore();
  const server = createServer(store);
  const url = await server.listen(0, '127.0.0.1');
  const created = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: REX_JSON });
  expect([created.status, await created.text()]).toEqual([201, REX_JSON.replace('{', '{"id":1,')]);
  await server.stop(1000);
  expect(server.isStopping).toBe(true);
  expect(await store.getPet(1n)).toEqual({ id: 1n, ...REX_PET });
});
