import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { AnimalStoreError, asAnimalStoreError, isError } from '../../src/domain/errors.ts';

test('an error has its code, its message and its cause', () => {
  const cause = new Error('below');
  const error = new AnimalStoreError('overloaded', 'too much', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'AnimalStoreError', code: 'overloaded', message: 'too much', cause });
});

test('an AnimalStoreError is returned, also that of a second copy of the module', () => {
  class AnimalStoreErrorTwin extends Error {
    override readonly name = 'AnimalStoreError';
    readonly code = 'not_found';
  }
  for (const error of [new AnimalStoreError('not_found', 'gone'), new AnimalStoreErrorTwin('gone')])
    expect(asAnimalStoreError(error)).toBe(error);
});

test.each([
  ['another error with a code', Object.assign(new Error('x'), { code: 'not_found' })],
  ['the name without a code', Object.assign(new Error('x'), { name: 'AnimalStoreError' })],
  ['what only looks like one', { name: 'AnimalStoreError', code: 'not_found', message: 'x' }],
  ['null', null],
])('%s is not an AnimalStoreError', (_, error) => {
  expect(asAnimalStoreError(error)).toBeUndefined();
});

test('errors of another realm are errors, and what only looks like one is none', () => {
  const made =
    "new Error('x')|new TypeError('x')|Object.assign(new (class Own extends Error {})('x'), { code: 'y' })";
  for (const source of made.split('|')) expect(isError(runInNewContext(source)), source).toBe(true);
  expect(isError(new DOMException('x', 'AbortError'))).toBe(true);
  for (const wrong of [undefined, null, 'Error', {}, { name: 'Error', message: 'x', stack: '' }])
    expect(isError(wrong)).toBe(false);
  for (const tag of ['[object Error', 'Error]'])
    expect(isError({ [Symbol.toStringTag]: tag }), tag).toBe(false);
  const twin: unknown = runInNewContext(
    "Object.assign(new Error('x'), { name: 'AnimalStoreError', code: 'overloaded' })",
  );
  expect(asAnimalStoreError(twin)).toBe(twin);
});
