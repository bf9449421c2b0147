import { expect, test } from 'vitest';
import { AnimalStoreError, asAnimalStoreError } from '../../src/domain/errors.ts';

test('an error has its code, its message and its cause', () => {
  const cause = new Error('below');
  const error = new AnimalStoreError('overloaded', 'too much', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'AnimalStoreError', code: 'overloaded', message: 'too much', cause });
});

test('an AnimalStoreError is returned', () => {
  const error = new AnimalStoreError('not_found', 'gone');
  expect(asAnimalStoreError(error)).toBe(error);
});

test('an error of a second copy of the module is returned too', () => {
  class AnimalStoreErrorTwin extends Error {
    override readonly name = 'AnimalStoreError';
    readonly code = 'not_found';
  }
  const error = new AnimalStoreErrorTwin('gone');
  expect(asAnimalStoreError(error)).toBe(error);
});

test.each([
  ['another error', new Error('x')],
  ['another error with a code', Object.assign(new Error('x'), { code: 'not_found' })],
  ['the name without a code', Object.assign(new Error('x'), { name: 'AnimalStoreError' })],
  ['what only looks like one', { name: 'AnimalStoreError', code: 'not_found', message: 'x' }],
  ['a string', 'AnimalStoreError'],
  ['null', null],
  ['undefined', undefined],
])('%s is not an AnimalStoreError', (_, error) => {
  expect(asAnimalStoreError(error)).toBeUndefined();
});
