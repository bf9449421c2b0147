/** A client can send its API key as the request id by mistake. The server must not log such an id. */

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { logObserver } from '../../../src/adapters/log/index.ts';
import { formatApiKey } from '../../../src/domain/api-key.ts';
import { STORAGES, startServer } from '../../support/server.ts';

const OTHER_KEY = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
const OPERATOR_KEY = 'an_operators-own-key_0123456789-abcdef';

async function start(storage: (typeof STORAGES)[number]) {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(line) });
  const server = await startServer(storage, { observers: [logObserver(log)] });
  /** Sends a request. Resolves with the id in the response, which must equal the id in the log. */
  const idFor = async (requestId: string, key: string | null = server.key) => {
    const { headers } = await server.client.request('GET', '/v1/pets', {
      headers: { 'X-Request-Id': requestId },
      key,
    });
    const id = headers['x-request-id'] as string;
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ requestId: id });
    return id;
  };
  return { ...server, lines, idFor };
}

describe.each(STORAGES)('the id of a request, on %s', (storage) => {
  test.each(['1', 'my-id', 'pets_of_the_shop-17', '0b8f7c4e-6f0a-4c39-9a50-2a1f4f1f7a11', 'x'.repeat(64)])(
    'is the id that the client sent: %s',
    async (requestId) => {
      const { idFor } = await start(storage);
      for (const key of [undefined, null, 'wrong', OPERATOR_KEY])
        expect(await idFor(requestId, key)).toBe(requestId);
    },
  );

  test.each([
    ['a key', OTHER_KEY],
    ['a key with something before it', `id-${OTHER_KEY}`],
    ['a key with something after it', `${OTHER_KEY}_1`],
    ['a part of a key', OTHER_KEY.slice(0, 30)],
    ['a key in another case', OTHER_KEY.toUpperCase()],
  ])('is a new id if the client sent %s', async (_case, requestId) => {
    const { idFor, lines, key } = await start(storage);
    for (const presented of [key, null, 'wrong', requestId]) {
      const id = await idFor(requestId, presented);
      expect(id).toMatch(/^[\w-]{1,30}$/);
      expect(requestId).not.toContain(id);
    }
    expect(lines.join('')).not.toContain(requestId.slice(10, 25));
  });

  test.each([
    ['the whole key', OPERATOR_KEY],
    ['the first part', OPERATOR_KEY.slice(0, 20)],
    ['the last part', OPERATOR_KEY.slice(-20)],
    ['more than the key', `id-${OPERATOR_KEY}-1`],
  ])('is a new id if the client sent the key of the request, of any format: %s', async (_case, requestId) => {
    const { idFor, lines } = await start(storage);
    expect(await idFor(requestId, OPERATOR_KEY)).not.toBe(requestId);
    expect(lines.join('')).not.toContain(requestId);
  });
});
