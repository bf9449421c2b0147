import { expect, test } from 'vitest';
import { MIGRATION, rowDropped } from '../../../src/adapters/storage-kit/store-errors.ts';

test.each(['always', 'alone', 'never'])('a store with an older schema is migrated %s', (value) => {
  expect(MIGRATION.accepts(value)).toBe(true);
});

test.each(['', 'Never', true, undefined])('the option of a migration is not %j', (value) => {
  expect(MIGRATION.accepts(value)).toBe(false);
});

test('a row that a trigger has dropped is an internal error, and no refusal of the request', () => {
  expect(rowDropped()).toMatchObject({ code: 'internal_error', message: expect.stringContaining('trigger') });
});
