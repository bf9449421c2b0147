/** What a manual says to do in words, done word for word. */

import { expect, test } from 'vitest';
import { withRequired } from '../support/pets.ts';
import { environmentOf, startInProcess } from '../support/service.ts';
import { proseOf, read } from './manuals.ts';

test('the steps of docs/api.md that keep a copy in sync miss no pet, and deliver none twice', async () => {
  const [, recipe = ''] = /How do I keep a copy in sync\?(.*?)## /s.exec(proseOf(read('docs/api.md'))) ?? [];
  const [, path = ''] = /1\. Request `GET (\S+<last id>)`, with 0 at first\./.exec(recipe) ?? [];
  expect(recipe).toContain(
    '3. Go on with the new last id. If the response has no pets, wait, and repeat the',
  );
  const { url, firstKey } = await startInProcess(await environmentOf('memory'));
  const headers = { Authorization: `Bearer ${firstKey?.key}`, 'Content-Type': 'application/json' };
  const request = (after: number, etag?: string) =>
    fetch(new URL(path.replace('<last id>', `${after}`), url), {
      headers: { ...headers, ...(etag !== undefined && { 'If-None-Match': etag }) },
    });
  const create = async () => {
    const body = JSON.stringify(withRequired({ name: 'Rex', categoryId: 7 }));
    expect((await fetch(`${url}/pets`, { method: 'POST', headers, body })).status).toBe(201);
  };
  const copy: number[] = [];
  /** Resolves with the `ETag` of the response without pets. */
  async function readOn(etag?: string): Promise<string> {
    const response = await request(copy.at(-1) ?? 0, etag);
    expect(response.status).toBe(200);
    const pets = (await response.json()) as { id: number }[];
    copy.push(...pets.map(({ id }) => id));
    return pets.length === 0 ? (response.headers.get('ETag') ?? '') : await readOn();
  }

  for (let count = 0; count < 101; count++) await create();
  let etag = await readOn();
  for (let count = 0; count < 2; count++) {
    expect((await request(copy.at(-1) ?? 0, etag)).status).toBe(304);
    await create();
    etag = await readOn(etag);
  }
  expect(copy).toEqual(Array.from({ length: 103 }, (_, index) => index + 1));
});
