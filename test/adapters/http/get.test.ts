import { expect, test } from 'vitest';
import { withPets } from '../../support/fake-pets.ts';
import { REX, REX_JSON } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';

test('an id beyond 2^53 is exact in the responses to a read, a create and a list', async () => {
  const { client } = await startServer('memory', {
    wrap: (store) =>
      withPets(store, {
        add: async (pet) => ({ ...pet, id: 9_223_372_036_854_775_807n }),
        find: async (id) => ({ id, ...REX }),
        list: async ({ after = 0n }) => ({ pets: [{ id: after + 1n, ...REX }], more: true }),
      }),
  });
  const found = await client.get('/v1/pets/9007199254740993');
  expect(found.body).toBe(REX_JSON.replace('{', '{"id":9007199254740993,'));
  const created = await client.post(REX_JSON);
  expect(created.body).toContain('"id":9223372036854775807,');
  expect(created.headers['location']).toBe('/v1/pets/9223372036854775807');
  const listed = await client.get('/v1/pets?limit=1&after=9007199254740992');
  expect(listed.body).toContain('"id":9007199254740993,');
  expect(listed.headers['link']).toBe('</v1/pets?limit=1&after=9007199254740993>; rel="next"');
});
