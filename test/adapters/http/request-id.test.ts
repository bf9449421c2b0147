/** The id of a request is what a client sends, so a client can send its key by mistake. */

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { requestLog } from '../../../src/composition/log.ts';
import { formatApiKey } from '../../../src/domain/api-key.ts';
import { STORAGES, startServer } from '../../support/server.ts';

const OTHER_KEY = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
const OPERATOR_KEY = 'an_operators-own-key_0123456789-abcdef';

async function start(storage: (typeof STORAGES)[number]) {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(line) });
  const server = await startServer(storage, { onAnswer: requestLog(log) });
  /** The id in the response, which is the one in the log. */
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

describe.each(STORAGES)("a request's id, on %s", (storage) => {
  test.each(['1', 'my-id', 'pets_of_the_shop-17', '0b8f7c4e-6f0a-4c39-9a50-2a1f4f1f7a11', 'x'.repeat(64)])(
    'is the one that was sent: %s',
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
  ])('is a new one instead of %s', async (_case, requestId) => {
    const { idFor, lines, key } = await start(storage);
    for (const presented of [key, null, 'wrong', requestId]) {
      const id = await idFor(requestId, presented);
      expect(id).toMatch(/^[\w-]{1,30}$/);
      expect(requestId).not.toContain(id);
    }
    expect(lines.join('')).not.toContain(requestId.slice(10, 25));
  });

  test.each([
    ['all of it', OPERATOR_KEY],
    ['its first part', OPERATOR_KEY.slice(0, 20)],
    ['its last part', OPERATOR_KEY.slice(-20)],
    ['more than it', `id-${OPERATOR_KEY}-1`],
  ])('is a new one instead of a key of any shape that the request brings: %s', async (_case, requestId) => {
    const { idFor, lines } = await start(storage);
    expect(await idFor(requestId, OPERATOR_KEY)).not.toBe(requestId);
    expect(lines.join('')).not.toContain(requestId);
  });
});
