import { expect, test } from 'vitest';
import { MIGRATION } from '../../../src/adapters/storage-kit/store-errors.ts';

test.each(['always', 'alone', 'never'])('a store with an older schema is migrated %s', (value) => {
  expect(MIGRATION.accepts(value)).toBe(true);
});

test.each(['', 'Never', true, undefined])('the option of a migration is not %j', (value) => {
  expect(MIGRATION.accepts(value)).toBe(false);
});
