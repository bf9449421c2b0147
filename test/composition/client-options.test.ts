import { expect, test } from 'vitest';
import { checkOptions } from '../../src/application/arguments.ts';
import { CLIENT_RULES } from '../../src/composition/databases/client-options.ts';
import { refusal } from '../support/refusal.ts';

const check = (headers: unknown) => () => checkOptions({ headers: headers as never }, CLIENT_RULES);

test.each([
  {},
  { 'X-Gateway': 'a b\tc', empty: '' },
  { "!#$%&'*+-.^`|~_09aZ": '~' },
  { 'my-authorization': 'x', 'authorization-of': 'x' },
])('a client can send the additional header fields %o', (headers) => {
  expect(check(headers)).not.toThrow();
});

test.each([
  null,
  'x',
  [],
  ...['Authorization', 'content-type', 'Idempotency-Key', 'IF-MATCH', '', ' a', 'a:', '(', 'é'].map(
    (name) => ({ [name]: 'x' }),
  ),
  ...['\nx', 'x\r', 'é', '\x7f', 7, null].map((value) => ({ valid: 'x', field: value })),
])('a client cannot send the header fields %j', (headers) => {
  expect(check(headers)).toThrow(
    refusal(
      /^headers: expected an object of header fields, without Authorization, Content-Type, Idempotency-Key and If-Match, got /,
    ),
  );
});
