/** What answers over real HTTP in the place of the server: bodies without an end, servers without TLS, large pages. */

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, createAnimalStore, type PetStore } from '../../../src/library/client.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { withRequired } from '../../support/pets.ts';
import { listen } from '../../support/sockets.ts';
import { API_KEY, BASE, petText } from './fake-api.ts';

const MIB = 1024 * 1024;
const REX = withRequired({ name: 'Rex', categoryId: 7n });

async function serve(listener: RequestListener): Promise<string> {
  const { host } = new URL(await listen(createServer(listener)));
  return `${host}/v1`;
}

function openStore(database: string, options: ClientOptions = {}): Promise<PetStore> {
  return createAnimalStore({ database, apiKey: API_KEY, onDeprecation: () => {}, ...options });
}

function* endlessSpaces(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024, ' ');
}

/** Each of these goes on until the client closes the connection. */
const ENDLESS: readonly [name: string, respond: RequestListener, message: string, timeout: number][] = [
  [
    'a body without an end',
    (_, response) => void Readable.from(endlessSpaces()).pipe(response),
    'has more than 1048576 bytes',
    100_000,
  ],
  [
    'compressed data that is a thousand times as large',
    (_, response) => {
      response.setHeader('Content-Encoding', 'gzip');
      Readable.from(endlessSpaces()).pipe(createGzip()).pipe(response);
    },
    'has more than 1048576 bytes',
    100_000,
  ],
  [
    'a byte now and then',
    (_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    },
    'no complete response within',
    1000,
  ],
];

test.each(ENDLESS)(
  '%s ends every call with an error, and the connection',
  async (_name, respond, message, timeout) => {
    const closed: Promise<unknown>[] = [];
    const place = await serve((request, response) => {
      closed.push(once(response, 'close'));
      response.statusCode = request.method === 'POST' ? 201 : 200;
      respond(request, response);
    });
    const store = await openStore(`http://${place}`, { timeout });
    for (const [call, key] of [
      [() => store.listPage(), undefined],
      [() => store.getPet(1), undefined],
      [() => store.createPet(REX), expect.stringMatching(/./)],
    ] as const) {
      await expect(call()).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining(message),
        idempotencyKey: key,
      });
    }
    expect(closed.length).toBeGreaterThanOrEqual(3);
    await Promise.all(closed);
  },
);

test.each([
  [
    'a server without TLS',
    (place: string) => `https://${place}`,
    'the server does not use TLS: expected http:',
  ],
  ['a port that fetch refuses', () => 'http://127.0.0.1:6000/v1', 'cannot be reached: bad port'],
])('%s ends a create at once, and nothing was stored', async (_name, baseAt, message) => {
  const store = await openStore(baseAt(await serve((_, response) => void response.end('[]'))), {
    timeout: 600_000,
  });
  await expect(store.createPet(REX)).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining(message),
    idempotencyKey: undefined,
  });
});

describe('the memory that the client keeps', () => {
  /** Reads a page for each number, and returns how many bytes their cache takes. */
  async function bytesAfter(count: number, base: string): Promise<number> {
    const store = await openStore(base);
    for (let after = 1; after <= 20; after += 1) await store.listPage({ after });
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let after = 21; after <= count; after += 1) await store.listPage({ after });
    collectGarbage();
    const bytes = process.memoryUsage().heapUsed - before;
    await store.listPage();
    return bytes;
  }

  /** A name of 13 characters or more can be a part of another string in memory. */
  function page(url: string | undefined): string {
    const { searchParams } = new URL(url ?? '', 'http://host');
    return `[${petText(BigInt(searchParams.get('after') ?? 0) + 1n, 'Rex of the long name')}]`;
  }

  test('has no part of a body but its pets', async () => {
    const space = ' '.repeat(MIB - 1000);
    const place = await serve((request, response) => {
      response.setHeader('ETag', '"a"');
      response.end(page(request.url) + space);
    });
    expect(await bytesAfter(45, `http://${place}`)).toBeLessThan(12 * MIB);
  });

  test('has no long entity tags', async () => {
    vi.stubGlobal('fetch', async (url: string) => {
      return new Response(page(url), { headers: { ETag: `"${'t'.repeat(7000)}${url}"` } });
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await bytesAfter(7000, BASE)).toBeLessThan(MIB);
  });
});
