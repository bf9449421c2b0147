import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FORBIDDEN_TRANSITION } from '../../../openapi/examples.ts';
import type { UserMiddleware } from '../../../src/adapters/http/index.ts';
import { CHANGES_OPTION } from '../../../src/adapters/http/lifecycle.ts';
import { entityTag } from '../../../src/adapters/http/respond.ts';
import { entityTagOf } from '../../../src/application/entity-tag.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { newPetJson, parsePet, petJson } from '../../../src/domain/pet-json.ts';
import { numberedPet, petWith } from '../../../src/testing/fixtures/pets.ts';
import type { Answer, Client } from '../../support/client.ts';
import { codePoint } from '../../support/code-points.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { changeJson, INVALID_CHANGES, numberedChange, numberedJson } from '../../support/pets.ts';
import { runs } from '../../support/property-runs.ts';
import { refusal } from '../../support/refusal.ts';
import { startServer } from '../../support/server.ts';

const REX = numberedJson(0);
const MAX = changeJson(1);

function patch(
  client: Client,
  body: string,
  fields: Readonly<Record<string, string>> = {},
  target = '/v1/pets/1',
) {
  const headers = { 'Content-Type': 'application/merge-patch+json', ...fields };
  return client.request('PATCH', target, { body, headers });
}

const ANY = { 'If-Match': '*' };

test('the entity tag in responses is the one that the store compares', async () => {
  // So many that every character of the encoding occurs.
  for (let id = 1n; id <= 20n; id += 1n) {
    const pet = { ...parsePet(REX.replace('{', '{"id":1,')), id };
    expect(await entityTagOf(pet)).toBe(entityTag(petJson(pet)));
  }
});

test('a storage that cannot change pets is refused by name before it serves', async () => {
  const wrap = ({ changes: _, ...others }: Storage) => others as Storage;
  const refused = refusal(`${CHANGES_OPTION} is not supported by this storage`);
  await expect(startServer('memory', { ...CHANGING, wrap })).rejects.toThrow(refused);
});

test('a change is for the version of its tag, and its response has the pet and the new tag', async () => {
  const { client } = await startServer('memory', { ...CHANGING });
  const created = await client.post(REX);
  const tag = { 'If-Match': created.headers['etag'] ?? '' };
  const changed = await patch(client, MAX, tag);
  expect(changed.status).toBe(200);
  expect(parsePet(changed.body)).toEqual({ ...parsePet(created.body), ...numberedChange(1) });
  const { body, headers } = await client.get('/v1/pets/1');
  expect([body, headers['etag']]).toEqual([changed.body, changed.headers['etag']]);
  expect((await patch(client, '{}', tag)).status).toBe(412);
});

test('an id that is not an int64 is 404 for each method, after the record of the key', async () => {
  const { client } = await startServer('memory', { ...CHANGING });
  await client.post(REX);
  const used = { ...ANY, 'Idempotency-Key': 'used' };
  await patch(client, MAX, used);
  for (const target of ['/v1/pets/abc', '/v1/pets/99999999999999999999']) {
    const { status, body } = await client.get(target);
    expect([status, body]).toEqual([404, expect.stringContaining('an id is an int64')]);
    expect(await patch(client, MAX, ANY, target)).toMatchObject({ status: 404, body });
    expect((await patch(client, MAX, used, target)).status).toBe(422);
    expect(await client.request('DELETE', target, { headers: ANY })).toMatchObject({ status: 404, body });
  }
});

test('a transition that a rule forbids is 409', async () => {
  if (FORBIDDEN_TRANSITION === undefined) return;
  const { name, from, to } = FORBIDDEN_TRANSITION;
  const { client } = await startServer('memory', { ...CHANGING });
  const pet = petWith(numberedPet(0n), { [name]: from }) ?? expect.fail(name);
  expect((await client.post(newPetJson(pet))).status).toBe(201);
  const { status, body } = await patch(client, JSON.stringify({ [name]: to }), ANY);
  expect([status, JSON.parse(body).code]).toEqual([409, 'invalid_transition']);
});

/** A field value without control characters, which no client can send. */
const fieldValue = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'"W/*, \t-ab\u00e9\u00ff'), maxLength: 30 }),
  fc.string({ maxLength: 30 }),
);

test('any If-Match is 200 or 412, and any cursor is 200, 400 or 410', async () => {
  const { client, errors } = await startServer('memory', { ...CHANGING });
  await client.post(REX);
  await fc.assert(
    fc.asyncProperty(fieldValue, async (text) => {
      expect((await patch(client, '{}', { 'If-Match': text })).status).toBe(text.trim() === '*' ? 200 : 412);
    }),
    runs(60),
  );
  const epoch = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF'), minLength: 15, maxLength: 17 });
  const cursor = fc.oneof(
    fc.string({ unit: codePoint }),
    fc.tuple(epoch, fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n })).map((parts) => parts.join('-')),
  );
  await fc.assert(
    fc.asyncProperty(cursor, async (text) => {
      const { status } = await client.get(`/v1/changes?after=${encodeURIComponent(text)}`);
      expect([400, 410]).toContain(status);
    }),
    runs(60),
  );
  expect(errors).toEqual([]);
});

test('a status that middleware of the host throws tells nothing about pets and cursors', async () => {
  for (const status of [409, 410, 412, 428]) {
    const afterKey = [(ctx: Parameters<UserMiddleware>[0]) => ctx.throw(status, 'of the host')];
    const { origin, key } = await startServer('memory', { ...CHANGING, middleware: { afterKey } });
    const response = await fetch(`${origin}/v1/changes`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await response.json()).toEqual({ code: 'invalid_request', message: 'of the host', status });
  }
});

test('the examples of a document with the option are responses of the server', async () => {
  const { client } = await startServer('memory', { ...CHANGING });
  const document = JSON.parse((await client.get('/openapi.json')).body);
  await client.post(REX);
  const change = document.paths['/pets/{petId}'].patch;
  for (const [type, { examples }] of Object.entries<{ examples: { one: { value: object } } }>(
    change.requestBody.content,
  )) {
    const fields = { ...ANY, 'Content-Type': type };
    expect((await patch(client, JSON.stringify(examples.one.value), fields)).status).toBe(200);
  }
  const exampleOf = (answer: Answer) => {
    const { code } = JSON.parse(answer.body);
    return change.responses[answer.status].content['application/json'].examples[code].value;
  };
  const key = { 'Idempotency-Key': 'used' };
  await patch(client, MAX, { ...ANY, ...key });
  const refused = [
    await patch(client, '{', { 'Content-Type': 'text/plain' }),
    await patch(client, ' '.repeat(16_385)),
    await patch(client, INVALID_CHANGES.at(-1) ?? ''),
    await patch(client, '{}'),
    await patch(client, '{}', { ...ANY, ...key }),
    await patch(client, '{}', { 'If-Match': '"none"' }),
  ];
  await client.request('DELETE', '/v1/pets/1', { headers: ANY });
  refused.push(await patch(client, '{}', ANY));
  expect(refused.map(({ status }) => status)).toEqual([415, 413, 400, 428, 422, 412, 404]);
  for (const answer of refused) expect(JSON.parse(answer.body)).toEqual(exampleOf(answer));
});
