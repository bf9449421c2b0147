import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FORBIDDEN_TRANSITION } from '../../../openapi/examples.ts';
import type { UserMiddleware } from '../../../src/adapters/http/index.ts';
import { CHANGES_OPTION } from '../../../src/adapters/http/lifecycle.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { parsePet, petJson } from '../../../src/domain/pet-json.ts';
import type { Answer, Client } from '../../support/client.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { changeJson, INVALID_CHANGES, numberedChange, numberedJson, numbersIn } from '../../support/pets.ts';
import { runs } from '../../support/property-runs.ts';
import { refusal } from '../../support/refusal.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const PATCH_TYPE = 'application/merge-patch+json';
const REX = numberedJson(0);
const MAX = changeJson(1);
const KIM = changeJson(2);

interface Call {
  readonly key?: string | null;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const codeOf = ({ status, body }: Answer) => [status, body === '' ? '' : JSON.parse(body).code];

function patch(client: Client, id: unknown, body: string, fields: Readonly<Record<string, string>> = {}) {
  return client.request('PATCH', `/v1/pets/${id}`, {
    body,
    headers: { 'Content-Type': PATCH_TYPE, ...fields },
  });
}

const ANY = { 'If-Match': '*' };

describe.each(STORAGES)('changes on %s', (kind) => {
  const served = sharedServer(kind, { ...CHANGING });
  const create = async (fields: Record<string, string> = {}) => {
    const answer = await served.client.post(REX, fields);
    return { answer, id: JSON.parse(answer.body).id as number, etag: String(answer.headers['etag']) };
  };

  test('a pet is changed, with the entity tag of each response', async () => {
    const { id, etag } = await create();
    const read = await served.client.get(`/v1/pets/${id}`);
    expect(read.headers['etag']).toBe(etag);
    const change = MAX.replace('}', ',"id":99,"colour":"red"}');
    const changed = await patch(served.client, id, change, { 'If-Match': etag });
    expect(changed.status).toBe(200);
    expect(changed.body).toBe(petJson({ ...parsePet(read.body), ...numberedChange(1) } as Pet));
    expect(changed.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json',
    });
    const after = await served.client.get(`/v1/pets/${id}`);
    expect([after.body, after.headers['etag']]).toEqual([changed.body, changed.headers['etag']]);
  });

  test('whoever changes what somebody else has changed since is told', async () => {
    const { id, etag } = await create();
    await patch(served.client, id, MAX, { 'If-Match': `"other", ${etag}` });
    for (const stale of [etag, `W/${etag}`, 'nonsense', '', '*, "a"', '"é"'])
      expect(codeOf(await patch(served.client, id, KIM, { 'If-Match': stale })), stale).toEqual([
        412,
        'precondition_failed',
      ]);
    expect(codeOf(await patch(served.client, id, KIM))).toEqual([428, 'precondition_required']);
    expect(codeOf(await patch(served.client, id, KIM, ANY))[0]).toBe(200);
  });

  test('checks come in one order', async () => {
    const { id } = await create();
    const used = { 'Idempotency-Key': `used-${id}` };
    await patch(served.client, id, MAX, { ...ANY, ...used });
    const none = { 'If-Match': '"none"' };
    const expected: readonly (readonly [string, unknown, string, Record<string, string>, number, string])[] =
      [
        ['a body of another type', 'x', '{', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
        ['a body that is too large', 'x', ' '.repeat(16_385), {}, 413, 'payload_too_large'],
        ['no JSON', 'x', '{', {}, 400, 'invalid_request'],
        ...INVALID_CHANGES.map((body) => [body, 'x', body, {}, 400, 'invalid_request'] as const),
        ['a key', 'x', '{}', { 'Idempotency-Key': 'a b' }, 400, 'invalid_request'],
        ['no tag', 'x', '{}', used, 428, 'precondition_required'],
        ['a used key', 'x', '{}', { ...none, ...used }, 422, 'idempotency_conflict'],
        ['an id that is no int64', 'x', '{}', none, 404, 'not_found'],
        ['an unknown pet', 2 ** 40, '{}', none, 404, 'not_found'],
        ['another tag', id, KIM, none, 412, 'precondition_failed'],
      ];
    for (const [name, of, body, fields, status, code] of expected)
      expect(codeOf(await patch(served.client, of, body, fields)), name).toEqual([status, code]);
  });

  test.runIf(FORBIDDEN_TRANSITION)('a value that cannot follow is the last to be refused', async () => {
    const { id } = await create();
    const { name = '', from, to, message } = FORBIDDEN_TRANSITION ?? {};
    const become = (value: unknown, ifMatch = '*') =>
      patch(served.client, id, JSON.stringify({ [name]: value }), { 'If-Match': ifMatch });
    expect((await become(from)).status).toBe(200);
    expect(codeOf(await become(to, '"none"'))).toEqual([412, 'precondition_failed']);
    const refused = await become(to);
    expect(codeOf(refused)).toEqual([409, 'invalid_transition']);
    expect(JSON.parse(refused.body).message).toBe(message);
  });

  test('a refused media type names those of a patch', async () => {
    const refused = await patch(served.client, 1, '{}', {
      'Content-Type': 'application/json-patch+json',
      ...ANY,
    });
    expect(refused.headers).toMatchObject({
      'accept-patch': 'application/merge-patch+json, application/json',
    });
    const { id } = await create();
    const plain = { 'Content-Type': 'application/json; charset=UTF-8', ...ANY };
    expect((await patch(served.client, id, MAX, plain)).status).toBe(200);
  });

  test('a repeated request gets the first response, also after changes and the removal', async () => {
    const key = { 'Idempotency-Key': `once-${Math.random()}` };
    const { id, etag } = await create();
    const first = await patch(served.client, id, MAX, { ...key, 'If-Match': etag });
    await patch(served.client, id, KIM, ANY);
    await served.client.request('DELETE', `/v1/pets/${id}`, { headers: ANY });
    const again = await patch(served.client, id, MAX.replace('{', '{ '), { ...key, ...ANY });
    expect([again.status, again.body, again.headers['etag']]).toEqual([
      200,
      first.body,
      first.headers['etag'],
    ]);
    expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ]);
  });

  test('a replayed create has the pet and the tag of its first response', async () => {
    const key = { 'Idempotency-Key': `create-${Math.random()}` };
    const { answer, id } = await create(key);
    await patch(served.client, id, MAX, ANY);
    const again = await served.client.post(REX, key);
    expect([again.status, again.body, again.headers['etag']]).toEqual([
      201,
      answer.body,
      answer.headers['etag'],
    ]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  test('no increment of several clients at once is lost', async () => {
    const { id } = await create();
    const [clients, each] = [4, 5];
    const increment = async (): Promise<void> => {
      const { body, headers } = await served.client.get(`/v1/pets/${id}`);
      const [number = Number.NaN] = numbersIn(`[${body}]`);
      const change = { 'If-Match': headers['etag'] ?? '', 'Idempotency-Key': crypto.randomUUID() };
      const { status } = await patch(served.client, id, changeJson(number + 1), change);
      expect([200, 412, 503]).toContain(status);
      if (status !== 200) await increment();
    };
    const count = async () => {
      for (let done = 0; done < each; done += 1) await increment();
    };
    await Promise.all(Array.from({ length: clients }, count));
    const { body } = await served.client.get(`/v1/pets/${id}`);
    expect(numbersIn(`[${body}]`)).toEqual([clients * each]);
  });

  test('a pet is removed', async () => {
    const { id, etag } = await create();
    const remove = (fields: Record<string, string>, of: unknown = id) =>
      served.client.request('DELETE', `/v1/pets/${of}`, { headers: fields });
    expect(codeOf(await remove({}))).toEqual([428, 'precondition_required']);
    expect(codeOf(await remove({ 'If-Match': '"a"' }))).toEqual([412, 'precondition_failed']);
    const removed = await remove({ 'If-Match': etag });
    expect([removed.status, removed.body, removed.headers['cache-control']]).toEqual([204, '', 'no-store']);
    expect((await remove({ 'If-Match': '"a"' })).status).toBe(204);
    expect(codeOf(await remove(ANY, 'x'))).toEqual([404, 'not_found']);
    expect(codeOf(await remove(ANY, 2 ** 40))).toEqual([404, 'not_found']);
    expect(codeOf(await served.client.get(`/v1/pets/${id}`))).toEqual([404, 'not_found']);
    expect(codeOf(await patch(served.client, id, '{}', ANY))).toEqual([404, 'not_found']);
  });

  test('the feed has the newest states, page by page, and says when to begin again', async () => {
    const { id } = await create();
    const other = await create();
    await served.client.request('DELETE', `/v1/pets/${id}`, { headers: ANY });
    const states: { cursor: string; pet?: { id: number }; etag?: string; removed?: number }[] = [];
    let path: string | undefined = '/v1/changes?limit=2';
    while (path !== undefined) {
      const page: Answer = await served.client.get(path);
      expect([page.status, page.headers['cache-control']]).toEqual([200, 'private, no-cache']);
      states.push(...JSON.parse(page.body));
      path = /^<([^>]+)>; rel="next"$/.exec(String(page.headers['link'] ?? ''))?.[1];
    }
    expect(states.find(({ removed }) => removed === id)).toBeDefined();
    expect(states.find(({ pet }) => pet?.id === other.id)?.etag).toBe(other.etag);
    const last = states.at(-1)?.cursor ?? '';
    expect((await served.client.get(`/v1/changes?after=${last}`)).body).toBe('[]');
    const epoch = last.split('-')[0];
    for (const cursor of [`${epoch}-999999999`, '0000000000000000-1'])
      expect(codeOf(await served.client.get(`/v1/changes?after=${cursor}`))).toEqual([
        410,
        'restart_required',
      ]);
    for (const query of ['after=', 'after=7', `after=${last}&after=${last}`, 'limit=0', 'limit=101'])
      expect(codeOf(await served.client.get(`/v1/changes?${query}`)), query).toEqual([
        400,
        'invalid_request',
      ]);
  });
});

test('a read-only key may list changes, and neither change nor remove a pet', async () => {
  const { client, store } = await startServer('memory', { ...CHANGING });
  const { key } = await store.apiKeys.create('reader', undefined, true);
  const call = (method: string, path: string, { fields = {}, body }: Call = {}) =>
    client.request(method, path, { key, headers: fields, ...(body !== undefined && { body }) });
  expect((await call('GET', '/v1/changes')).status).toBe(200);
  for (const method of ['PATCH', 'DELETE'])
    expect(codeOf(await call(method, '/v1/pets/1', { fields: ANY, body: '{}' }))).toEqual([403, 'forbidden']);
});

test('a storage that cannot change pets is refused by name before it serves', async () => {
  const wrap = ({ changes: _, ...others }: Storage) => others as Storage;
  const refused = refusal(`${CHANGES_OPTION} is not supported by this storage`);
  await expect(startServer('memory', { ...CHANGING, wrap })).rejects.toThrow(refused);
});

/** Without control characters, which no client can send. */
const fieldValue = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'"W/*, \t-ab\u00e9\u00ff'), maxLength: 30 }),
  fc.string({ maxLength: 30 }),
);

test('any If-Match is 200 or 412, and any cursor is 200, 400 or 410', async () => {
  const { client, errors } = await startServer('memory', { ...CHANGING });
  await client.post(REX);
  await fc.assert(
    fc.asyncProperty(fieldValue, async (text) => {
      const { status } = await patch(client, 1, '{}', { 'If-Match': text });
      expect(status).toBe(text.trim() === '*' ? 200 : 412);
    }),
    runs(200),
  );
  const epoch = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF'), minLength: 15, maxLength: 17 });
  const number = fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n });
  const cursor = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.tuple(epoch, number).map((parts) => parts.join('-')),
  );
  await fc.assert(
    fc.asyncProperty(cursor, async (text) => {
      const { status } = await client.get(`/v1/changes?after=${encodeURIComponent(text.toWellFormed())}`);
      expect([400, 410]).toContain(status);
    }),
    runs(200),
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
    const { status } = await patch(client, 1, JSON.stringify(examples.one.value), fields);
    expect(status).toBe(200);
  }
  const exampleOf = (answer: Answer) => {
    const { code } = JSON.parse(answer.body);
    return change.responses[answer.status].content['application/json'].examples[code].value;
  };
  const key = { 'Idempotency-Key': 'used' };
  await patch(client, 1, MAX, { ...ANY, ...key });
  const refused = [
    await patch(client, 1, '{', { 'Content-Type': 'text/plain' }),
    await patch(client, 1, ' '.repeat(16_385)),
    await patch(client, 1, INVALID_CHANGES.at(-1) ?? ''),
    await patch(client, 1, '{}'),
    await patch(client, 1, '{}', { ...ANY, ...key }),
    await patch(client, 7, '{}', ANY),
    await patch(client, 1, '{}', { 'If-Match': '"none"' }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([415, 413, 400, 428, 422, 404, 412]);
  for (const answer of refused) expect(JSON.parse(answer.body)).toEqual(exampleOf(answer));
});
