import { expect, test } from 'vitest';
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
