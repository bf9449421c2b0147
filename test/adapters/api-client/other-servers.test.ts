/** Other servers at the address, over real HTTP: bodies without an end, servers without TLS. */

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { RESPONSE_LIMIT } from '../../../src/adapters/api-client/errors.ts';
import { REX } from '../../support/pets.ts';
import { listen } from '../../support/sockets.ts';
import { openStore } from './fake-api.ts';

async function serve(listener: RequestListener): Promise<string> {
  const { host } = new URL(await listen(createServer(listener)));
  return `${host}/v1`;
}

function* endlessSpaces(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024, ' ');
}

/** Each of these goes on until the client closes the connection. */
const ENDLESS: readonly [name: string, respond: RequestListener][] = [
  ['a body without an end', (_, response) => void Readable.from(endlessSpaces()).pipe(response)],
  [
    'compressed data that is a thousand times as large',
    (_, response) => {
      response.setHeader('Content-Encoding', 'gzip');
      Readable.from(endlessSpaces()).pipe(createGzip()).pipe(response);
    },
  ],
];

test.each(ENDLESS)('%s ends every call with an error, and the connection', async (_name, respond) => {
  const closed: Promise<unknown>[] = [];
  const place = await serve((request, response) => {
    closed.push(once(response, 'close'));
    response.statusCode = request.method === 'POST' ? 201 : 200;
    respond(request, response);
  });
  const store = await openStore({ database: `http://${place}`, timeout: 100_000 });
  for (const [call, key] of [
    [() => store.listPage(), undefined],
    [() => store.createPet(REX), expect.stringMatching(/./)],
  ] as const)
    await expect(call()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`has more than ${RESPONSE_LIMIT} bytes`),
      idempotencyKey: key,
    });
  expect(closed.length).toBeGreaterThanOrEqual(2);
  await Promise.all(closed);
});

test('a server without TLS ends a create at once, and nothing was stored', async () => {
  const place = await serve((_, response) => void response.end('[]'));
  const store = await openStore({ database: `https://${place}`, timeout: 600_000 });
  await expect(store.createPet(REX)).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('the server does not use TLS: expected http:'),
    idempotencyKey: undefined,
  });
});
