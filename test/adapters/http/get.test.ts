/** Ids beyond 2^53, and the deprecation of `GET /v1/pets/{petId}`. `recorded` tests the rest of the reads. */

import type { RouterContext } from '@koa/router';
import { expect, test } from 'vitest';
import { deprecation, sunsetNotice } from '../../../src/adapters/http/deprecation.ts';
import { OPERATIONS, type Operation, SUNSET } from '../../../src/adapters/http/operations.ts';
import type { ApiState } from '../../../src/adapters/http/state.ts';
import { withPets } from '../../support/fake-pets.ts';
import { wholeJson, withRequired } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';
import { REX } from './paths.ts';

test('an id beyond 2^53 is exact in the responses to a read, a create and a list', async () => {
  const rex = withRequired({ name: 'Rex', categoryId: 1n, status: 'sold' });
  const { client } = await startServer('memory', {
    wrap: (store) =>
      withPets(store, {
        add: async (pet) => ({ ...pet, id: 9_223_372_036_854_775_807n }),
        find: async (id) => ({ id, ...rex }),
        list: async ({ after = 0n }) => ({ pets: [{ id: after + 1n, ...rex }], more: true }),
      }),
  });
  const found = await client.get('/v1/pets/9007199254740993');
  expect(found.body).toBe(wholeJson('{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"sold"}'));
  const created = await client.post(REX);
  expect(created.body).toContain('"id":9223372036854775807,');
  expect(created.headers['location']).toBe('/v1/pets/9223372036854775807');
  const listed = await client.get('/v1/pets?limit=1&after=9007199254740992');
  expect(listed.body).toContain('"id":9007199254740993,');
  expect(listed.headers['link']).toBe('</v1/pets?limit=1&after=9007199254740993>; rel="next"');
});

test('another operation of the path is not deprecated', async () => {
  const operations = OPERATIONS.flatMap((each): Operation[] =>
    each.deprecated ? [each, { ...each, method: 'POST', deprecated: false }] : [each],
  );
  const stage = deprecation('', operations);
  const fieldsOf = async (method: string, path: string) => {
    const fields = {};
    const state = { animalStore: { path } } as RouterContext<ApiState>['state'];
    const set = (added: unknown): void => void Object.assign(fields, added);
    const ctx: Partial<RouterContext<ApiState>> = { method, state, set };
    await stage(ctx as RouterContext<ApiState>, async () => {});
    return Object.keys(fields);
  };
  for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS'])
    expect(await fieldsOf(method, '/v1/pets/1'), method).toEqual(['Deprecation', 'Sunset', 'Link']);
  expect(await fieldsOf('POST', '/v1/pets/1')).toEqual([]);
  expect(await fieldsOf('GET', '/v1/pets')).toEqual([]);
});

test('GET /v1/pets/{petId} has a notice from its sunset on', () => {
  expect(sunsetNotice(SUNSET.getTime() - 1)).toBeUndefined();
  expect(sunsetNotice(SUNSET.getTime())).toBe(
    'GET /v1/pets/{petId} has passed its sunset on 2030-12-05T00:00:00.000Z',
  );
});
