import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { foundKey, hashOf, keyValues, rowIdOf } from '../../../src/adapters/storage-kit/key-rows.ts';

const HASH = createHash('sha256').update('secret').digest();
const ABOUT = { name: 'a', prefix: 'p', createdAt: 1, expiresAt: undefined };
const UNKNOWN = { expiresAt: undefined, revokedAt: undefined, lastUsedOn: undefined, callerId: undefined };

test('a row has the hash of the key, and not the key', () => {
  expect(keyValues('secret', ABOUT)).toEqual([HASH, 'a', 'p', 1, null, 0]);
  const about = { ...ABOUT, expiresAt: 2, isReadOnly: true };
  expect(keyValues('secret', about)).toEqual([HASH, 'a', 'p', 1, 2, 1]);
});

test('a key is found only with its hash, whatever a row has for booleans', () => {
  const row = ['7', HASH, 'a', 'p', 1, null, null, null, null];
  expect(foundKey([...row, 0], hashOf('secret'))).toEqual({
    id: '7',
    ...ABOUT,
    ...UNKNOWN,
    isReadOnly: false,
  });
  expect(foundKey([...row, true], HASH)).toMatchObject({ isReadOnly: true });
  expect(Object.isFrozen(foundKey([...row, 1], HASH))).toBe(true);
  expect(foundKey(['7', HASH, 'a', 'p', 1, 2, 3, 4, '5', 1], HASH)).toEqual({
    ...{ id: '7', name: 'a', prefix: 'p', createdAt: 1, expiresAt: 2, revokedAt: 3, lastUsedOn: 4 },
    ...{ callerId: '5', isReadOnly: true },
  });
  expect(foundKey([...row, 1], hashOf('other'))).toBeUndefined();
  expect(foundKey(undefined, HASH)).toBeUndefined();
});

test('no key has the id of a text that is not an int64', () => {
  expect(rowIdOf('7')).toBe(7n);
  expect([rowIdOf('x'), rowIdOf('9223372036854775808')]).toEqual([-(2n ** 63n), -(2n ** 63n)]);
});
