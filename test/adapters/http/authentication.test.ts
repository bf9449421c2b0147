/** The syntax of `Authorization`. `recorded` tests which paths need a key. */

import { describe, expect, test } from 'vitest';
import { sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';

const INVALID = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="animal-store", error="invalid_token"' },
};
const MISSING = { status: 401, headers: { 'www-authenticate': 'Bearer realm="animal-store"' } };
const NO_SCHEME = 'the scheme Bearer is missing before the API key: Authorization: Bearer <API_KEY>';
const OTHER_SCHEME = 'Authorization must have the scheme Bearer: Authorization: Bearer <API_KEY>';
const NO_KEY = 'expected one API key after Bearer: Authorization: Bearer <API_KEY>';
const UNKNOWN_KEY = 'the API key is not valid';

describe('the API key', () => {
  const server = sharedServer('memory');

  test.each([
    ['the key alone', (key: string) => key, NO_SCHEME],
    ['Basic', (key: string) => `Basic ${btoa(`x:${key}`)}`, OTHER_SCHEME],
    ['two keys', (key: string) => `${key} ${key}`, OTHER_SCHEME],
    ['a word that begins with Bearer', (key: string) => `Bearers ${key}`, OTHER_SCHEME],
    ['a tab after Bearer', () => 'Bearer\tx', NO_KEY],
    ['bytes beyond ASCII', () => 'Bearer sch\u00fcssel', NO_KEY],
    ['a key in another case', (key: string) => `Bearer ${key.toUpperCase()}`, UNKNOWN_KEY],
    ['a part of a key', (key: string) => `Bearer ${key.slice(0, 30)}`, UNKNOWN_KEY],
  ])('is refused with a message that repeats nothing of it: %s', async (_name, header, message) => {
    const value = header(server.key);
    const answer = await server.client.get('/v1/pets', { Authorization: value });
    expect(answer).toMatchObject(INVALID);
    expect(JSON.parse(answer.body)).toEqual({ code: 'unauthorized', message, status: 401 });
    for (const part of [...value.split(/[ \t]/).slice(1), server.key.slice(0, 20)]) {
      if (part.length > 1) expect(JSON.stringify(answer)).not.toContain(part);
    }
  });

  test('is never read from another place', async () => {
    const { key } = server;
    const fields = [
      `Proxy-Authorization: Bearer ${key}`,
      `X-Api-Key: ${key}`,
      `X-Forwarded-Authorization: Bearer ${key}`,
      `Authorization_: Bearer ${key}`,
      `Cookie: Authorization=Bearer ${key}; access_token=${key}`,
      `Sec-WebSocket-Protocol: bearer, ${key}`,
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${key.length + 13}\r\n\r\naccess_token=${key}`,
      `Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n0\r\nAuthorization: Bearer ${key}`,
    ];
    for (const field of fields)
      expect(
        await sendRaw(server.origin, `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${field}\r\n\r\n`),
      ).toMatchObject(MISSING);
    for (const target of [`/v1/pets?access_token=${key}`, `/v1/pets?api_key=${key}`, `/v1/pets/${key}`])
      expect(await server.client.request('GET', target, { key: null })).toMatchObject(MISSING);
  });
});
