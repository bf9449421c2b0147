/** The stop of a server of Bun or Deno. The test replaces the server of the runtime. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Api } from '../../../src/adapters/http/api/api.ts';
import { matchTemplates } from '../../../src/adapters/http/api/path-templates.ts';
import type { FetchHandler } from '../../../src/adapters/http/fetch/handler.ts';
import { FetchServer } from '../../../src/adapters/http/fetch/server/fetch-server.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/storage.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';

/** Longer than the time for which responses are held back once, in milliseconds. */
const BUSY_TIME = 3500;

test('while requests arrive, a server that is stopping does not stop listening', async () => {
  const api = new Api(new AnimalStore(openMemoryStorage()), {}, matchTemplates);
  const events: string[] = [];
  let handle: FetchHandler = () => Promise.reject(new Error('the server does not listen'));
  const server = new FetchServer(api, (port, address, handleRequest) => {
    handle = handleRequest;
    const stop = async () => void events.push('stops listening');
    return { address, port, breaksBodies: false, isBusy: false, stop, destroy() {} };
  });
  await server.listen(1, '127.0.0.1');
  const stopped = server.stop(10_000);
  const responses: Promise<Response>[] = [];
  for (const end = performance.now() + BUSY_TIME; performance.now() < end; await sleep(10)) {
    responses.push(handle(new Request('http://localhost/livez')));
    events.push('request');
  }
  await stopped;
  expect(events.indexOf('stops listening')).toBe(events.length - 1);
  expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([200]));
});
