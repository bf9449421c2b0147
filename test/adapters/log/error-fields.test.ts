/** The fields of an error in the log. */

import { expect, test } from 'vitest';
import { errorFields, errorKind } from '../../../src/adapters/log/error-fields.ts';

/** An error with a code and a short stack. */
const coded = (code: string | undefined, cause?: unknown) =>
  Object.assign(new Error('failed', { cause }), { stack: `stack of ${code}`, ...(code && { code }) });

test.each<[error: unknown, kind: string, fields: object]>([
  ['a text', 'string', { type: 'string', message: 'a text' }],
  [null, 'object', { type: 'object', message: 'null' }],
  [{ body: 'secret' }, 'object', { type: 'object', message: 'object' }],
  [new TypeError('x'), 'TypeError', { type: 'TypeError', message: 'x' }],
  [coded('A'), 'A', { type: 'Error', code: 'A', message: 'failed', stack: 'stack of A' }],
  [coded('A', coded('B')), 'A: B', { code: 'A', stack: 'stack of A\ncaused by: stack of B' }],
  [
    coded(undefined, coded('B', 7)),
    'B',
    { stack: 'stack of undefined\ncaused by: stack of B\ncaused by: 7' },
  ],
])('%o is of the kind %s', (error, kind, fields) => {
  expect(errorKind(error)).toBe(kind);
  expect(errorFields(error)).toMatchObject(fields);
});

test('at most five errors of a chain and 8,000 characters of a text are logged', () => {
  const chain = ['6', '5', '4', '3', '2', '1'].reduce<unknown>((cause, code) => coded(code, cause), 'end');
  expect(errorKind(chain)).toBe('1: 2: 3: 4: 5');
  const message = 'x'.repeat(8000);
  expect(errorFields(new Error(message))).toMatchObject({ message });
  expect(errorFields(new Error(`${message}y`))).toMatchObject({ message: `${message}…` });
});
