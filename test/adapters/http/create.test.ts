/** The rules for `Idempotency-Key`. `recorded` tests the members of a body, and `every-storage.test.ts` what is stored. */

import { describe, expect, test } from 'vitest';
import { sharedServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

describe('Idempotency-Key', () => {
  const server = sharedServer('memory');
  const create = (idempotencyKey: string | string[], body = REX) => {
    const headers = { ...JSON_TYPE, 'Idempotency-Key': idempotencyKey };
    return server.client.request('POST', '/v1/pets', { headers, body });
  };

  test('has 1 to 255 visible ASCII characters, in one line', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
    for (const key of [visible, 'x'.repeat(255)]) {
      expect((await create(key)).status).toBe(201);
      expect((await create(key)).headers['idempotency-replayed']).toBe('true');
    }
    for (const key of ['', ' ', 'a b', '\u00e4', 'x'.repeat(256), 'a\tb', ['x', 'y'], ['x', 'x']]) {
      const { status, body } = await create(key);
      expect([status, JSON.parse(body).message], String(key)).toEqual([
        400,
        expect.stringContaining('Idempotency-Key must have 1 to 255 visible ASCII characters'),
      ]);
    }
    expect((await server.storage.pets.list({ limit: 100 })).pets).toHaveLength(2);
  });

  test('is not used up by a refused request', async () => {
    expect((await create('refused', '{"name":"Rex"}')).status).toBe(400);
    const { status, headers } = await create('refused');
    expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
  });
});
