import { expect, test } from 'vitest';
import { createMatcher } from '../../../src/adapters/http/koa/router.ts';

const match = (path: string) => createMatcher(['/v1/pets', '/v1/pets/{petId}'])(path);

test.each([
  ['/v1/pets', { route: '/v1/pets', params: {} }],
  ['/v1/pets/7', { route: '/v1/pets/{petId}', params: { petId: '7' } }],
  ['/v1/pets/a%2Fb', { route: '/v1/pets/{petId}', params: { petId: 'a/b' } }],
])('%s matches its template', (path, expected) => {
  expect(match(path)).toEqual(expected);
});

test.each(['/v1/Pets', '/V1/pets/7', '/v1/pets/', '/v1/pets/7/', '/v1/pets/7/8', '/v1', ''])(
  '%j matches no template: case and slashes count',
  (path) => {
    expect(match(path)).toBeUndefined();
  },
);
