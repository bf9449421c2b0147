/**
 * A client whose paths, parameters and members the compiler checks, with types generated from the OpenAPI document:
 *
 *     npx openapi-typescript http://127.0.0.1:3000/openapi.json --output examples/animal-store.d.ts
 *     ANIMAL_STORE_KEY=pets_... node examples/typed-client.ts
 *
 * It does not retry. It reads JSON with `JSON.parse`: an `id` or `categoryId` beyond 2^53 would be rounded.
 */

import createClient from 'openapi-fetch';
import type { components, paths } from './animal-store.d.ts';

type NewPet = components['schemas']['NewPet'];

const client = createClient<paths>({
  baseUrl: process.env['ANIMAL_STORE_URL'] ?? 'http://127.0.0.1:3000/v1',
  headers: { Authorization: `Bearer ${process.env['ANIMAL_STORE_KEY']}` },
});

/** Throws if a proxy responds instead of the API. The pet may still have been created: a retry needs an `Idempotency-Key`. */
client.use({
  onResponse({ request, response: { status, headers } }) {
    const isExpected = status === (request.method === 'POST' ? 201 : 200) || status >= 400;
    if (isExpected && headers.get('Content-Type') === 'application/json') return;
    throw new Error(`status ${status}, which the API did not send`);
  },
});

const rex: NewPet = { name: 'Rex', categoryId: 7 };
const added = await client.POST('/pets', { body: rex });
if (added.error) throw new Error(`${added.error.code}: ${added.error.message}`);
console.log(`added ${added.data.name}, whose id is ${added.data.id}`);

const listed = await client.GET('/pets', { params: { query: { status: 'available', limit: 5 } } });
if (listed.error) throw new Error(`${listed.error.code}: ${listed.error.message}`);
for (const { id, name, status } of listed.data) console.log(id, name, status);
