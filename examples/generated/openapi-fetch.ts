/**
 * A client that uses `openapi-fetch` and keeps integers exact: it parses the text of each response itself, and writes a `bigint`
 * as its digits. Generate `pets.d.ts` first, with `openapi-fetch-types.ts` in this folder.
 */

import { parsePet, parsePets } from 'animal-store';
import createClient from 'openapi-fetch';
import type { paths } from './pets.d.ts';

/** TypeScript does not know this function of Node.js 22 and of browsers. */
const { rawJSON } = JSON as unknown as { rawJSON(digits: string): unknown };

const client = createClient<paths>({
  baseUrl: process.env['ANIMAL_STORE_URL'] ?? 'http://127.0.0.1:3000/v1',
  headers: { Authorization: `Bearer ${process.env['ANIMAL_STORE_KEY']}` },
  bodySerializer: (body) =>
    JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value)),
});

const created = await client.POST('/pets', {
  body: { name: 'Rex', categoryId: 9007199254740993n },
  parseAs: 'text',
});
if (created.error) throw new Error(created.error.message);
console.log(parsePet(created.data).categoryId);

const query = { after: parsePet(created.data).id - 1n, limit: 1 };
const listed = await client.GET('/pets', { params: { query }, parseAs: 'text' });
if (listed.error) throw new Error(listed.error.message);
console.log(parsePets(listed.data)[0]?.categoryId);
