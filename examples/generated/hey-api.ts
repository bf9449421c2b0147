/** A client by `@hey-api/openapi-ts` with exact integers. It puts quotes around long integers before `JSON.parse` rounds them. */

import { client } from './pets/client.gen.ts';
import { createPet, listPets } from './pets/sdk.gen.ts';

/** TypeScript does not know this function of Node.js 22 and of browsers. */
const { rawJSON } = JSON as unknown as { rawJSON(digits: string): unknown };

/** A string stays as it is. An integer of 16 digits or more becomes a string, from which the generated code makes a `bigint`. */
const quoteLong = (json: string) =>
  json.replaceAll(/("(?:[^"\\]|\\.)*")|-?\d{16,}/g, (token, text?: string) => text ?? `"${token}"`);

client.setConfig({
  baseUrl: process.env['ANIMAL_STORE_URL'] ?? 'http://127.0.0.1:3000/v1',
  headers: { Authorization: `Bearer ${process.env['ANIMAL_STORE_KEY']}` },
  bodySerializer: (body) =>
    JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value)),
  fetch: async (...request: Parameters<typeof fetch>) => {
    const response = await fetch(...request);
    const { status, headers } = response;
    // A response with the status 204 must not have a body, not even an empty one.
    return new Response(quoteLong(await response.text()) || null, { status, headers });
  },
});

const created = await createPet({
  body: { name: 'Rex', categoryId: 9007199254740993n },
  throwOnError: true,
});
console.log(created.data.categoryId);

const query = { after: created.data.id - 1n, limit: 1 };
const listed = await listPets({ query, throwOnError: true });
console.log(listed.data[0]?.categoryId);
