/** A client can send its API key as the request id by mistake. The server must not log such an id. */

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { newRequestId, requestIdOf } from '../../../src/adapters/http/api/request-id.ts';
import { logObserver } from '../../../src/adapters/log/index.ts';
import { formatApiKey } from '../../../src/domain/api-key-format.ts';
import { sharedServer } from '../../support/server.ts';

const OTHER_KEY = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
const OPERATOR_KEY = 'an_operators-own-key_0123456789-abcdef';

describe('the id of a request', () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => lines.push(line) });
  const server = sharedServer('memory', { observers: [logObserver(log)] });
  beforeEach(() => {
    lines.length = 0;
  });

  /** Sends a request. Resolves with the id in the response, which must equal the id in the log. */
  async function idFor(requestId: string, key: string | null = server.key): Promise<string> {
    const { headers } = await server.client.request('GET', '/v1/pets', {
      headers: { 'X-Request-Id': requestId },
      key,
    });
    const id = headers['x-request-id'] as string;
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ requestId: id });
    return id;
  }

  test.each([
    '1',
    'my-id',
    'pets_of_shop-17',
    '0B8F7C4E-6f0a-4c39-9a50-2a1f4f1f7a11',
    'fedcba9876543210'.repeat(2),
  ])('is the id that the client sent: %s', async (requestId) => {
    for (const key of [undefined, null, 'wrong', OPERATOR_KEY])
      expect(await idFor(requestId, key)).toBe(requestId);
  });

  test.each([
    ['a key', OTHER_KEY],
    ['a key with something before it', `id-${OTHER_KEY}`],
    ['a key with something after it', `${OTHER_KEY}_1`],
    ['a part of a key', OTHER_KEY.slice(0, 30)],
    ['a key in another case', OTHER_KEY.toUpperCase()],
  ])('is a new id if the client sent %s', async (_case, requestId) => {
    for (const presented of [server.key, null, 'wrong', requestId]) {
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
    expect(await idFor(requestId, OPERATOR_KEY)).not.toBe(requestId);
    expect(lines.join('')).not.toContain(requestId);
  });
});

test('new ids differ, and grow from one prefix of the process', () => {
  const ids = Array.from({ length: 40 }, newRequestId);
  expect(new Set(ids).size).toBe(40);
  const [, prefix, first = ''] = /^([\w-]{8})-([\da-z]+)$/.exec(ids[0] ?? '') ?? [];
  expect(ids.at(-1)).toBe(`${prefix}-${(Number.parseInt(first, 36) + 39).toString(36)}`);
});

test('an id is compared with the key of the request and with secrets, unless it is too short to be one', () => {
  const id = 'fedcba9876543210'.repeat(2);
  const idFor = (given: string, authorization: string | undefined, isSecret: (text: string) => boolean) =>
    requestIdOf({ headers: { 'x-request-id': given, authorization } } as never, isSecret);
  expect(idFor(id, undefined, () => false)).toBe(id);
  expect(idFor(id, undefined, (text) => text === id)).not.toBe(id);
  expect(idFor(id, `Bearer ${id}`, () => false)).not.toBe(id);
  const short = id.slice(0, 15);
  expect(idFor(short, `Bearer ${short}`, () => true)).toBe(short);
});
