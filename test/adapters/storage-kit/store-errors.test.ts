import { expect, test } from 'vitest';
import { MIGRATION } from '../../../src/adapters/storage-kit/store-errors.ts';

test('a store with an older schema is migrated always, alone or never', () => {
  const accepted = ['always', 'alone', 'never', '', 'Never', true, undefined].filter(MIGRATION.accepts);
  expect(accepted).toEqual(['always', 'alone', 'never']);
});
