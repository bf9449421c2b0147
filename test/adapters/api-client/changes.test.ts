/** Changes of pets at a server: what is sent, what is retried with the same key, and which responses are refused. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import { NOT_SERVED } from '../../../src/adapters/api-client/unserved.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { petChangeJson, petJson } from '../../../src/domain/pet-json.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { changeTo, INVALID_PETS, MAX } from '../../support/pets.ts';
import { refusal } from '../../support/refusal.ts';
import {
  API_KEY,
  BASE,
  ended,
  errorOf,
  type FakeResponse,
  type Fate,
  failure,
  fakeApi,
  lostConnection,
} from './fake-api.ts';

/** A pet whose integers are beyond 2^53, where the attributes allow it. */
const PET: Pet = { id: 7n, ...samplePet('Rex', 2n ** 53n + 1n) };
const REX = petJson(PET);
const CHANGE = changeTo(MAX);
const CHANGED_PET = { ...PET, ...CHANGE } as Pet;
const found = (tag = '"a"'): FakeResponse => ({ status: 200, body: REX, headers: { ETag: tag } });
/** As long as the entity tags of a server. */
const HASH = 'a-br'.padEnd(43, '-br');
const CHANGED: FakeResponse = { status: 200, body: petJson(CHANGED_PET), headers: { ETag: '"b"' } };
const CHANGED_SINCE = failure(412, 'precondition_failed');
const NEW_KEY = /^[0-9a-f]{32}$/;
const sell = () => CHANGE;

let store: AnimalStore;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  store = new AnimalStore(openApiStorage(BASE, { apiKey: API_KEY, timeout: 2000 }));
});

const keyOf = ({ headers }: { readonly headers: Headers }) => headers.get('Idempotency-Key');
const tagOf = ({ headers }: { readonly headers: Headers }) => headers.get('If-Match');

describe('changePet', () => {
  test('sends a merge patch for any version, and resolves with the entity tag of the server', async () => {
    const sent = fakeApi(CHANGED);
    const { pet, etag } = await ended(store.changePet(7n, CHANGE));
    expect([pet, etag]).toEqual([CHANGED_PET, '"b"']);
    expect(Object.isFrozen(pet)).toBe(true);
    const [request] = sent;
    expect(request).toMatchObject({ method: 'PATCH', url: `${BASE}/pets/7`, body: petChangeJson(CHANGE) });
    expect(request?.headers.get('Content-Type')).toBe('application/merge-patch+json');
    expect([sent.map(tagOf), sent.map(keyOf)]).toEqual([['*'], [expect.stringMatching(NEW_KEY)]]);
  });

  test.each<[string, readonly Fate[]]>([
    ['a lost connection', [lostConnection()]],
    ['a body that is cut', ['cut body']],
    ['503', [failure(503, 'storage_unavailable')]],
  ])('after %s, the same key, tag and body are sent again', async (_name, fates) => {
    const headers = { ...CHANGED.headers, 'Idempotency-Replayed': 'true' };
    const sent = fakeApi(...fates, { ...CHANGED, headers });
    const { isReplay } = await ended(store.changePetOnce(7n, CHANGE, undefined, { ifMatch: ['"a"', '"c"'] }));
    expect(isReplay).toBe(true);
    const [first, second] = sent.map((request) => [keyOf(request), tagOf(request), request.body]);
    expect(second).toEqual(first);
    expect(first).toEqual([expect.stringMatching(NEW_KEY), '"a", "c"', petChangeJson(CHANGE)]);
  });

  test('applies a function again after 412, with the new tag and another key', async () => {
    const sent = fakeApi(found('W/"a"'), CHANGED_SINCE, found(`"${HASH}-gzip"`), CHANGED);
    const change = vi.fn(sell);
    expect((await ended(store.changePet(7n, change))).etag).toBe('"b"');
    expect(change).toHaveBeenCalledTimes(2);
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'PATCH', 'GET', 'PATCH']);
    const patches = sent.filter(({ method }) => method === 'PATCH');
    expect(patches.map(tagOf)).toEqual(['"a"', `"${HASH}"`]);
    expect(new Set(patches.map(keyOf)).size).toBe(2);
  });

  test('applies a function again with the key of a request that may still arrive', async () => {
    const sent = fakeApi(found(), lostConnection(), CHANGED_SINCE, found('"c"'), CHANGED);
    await ended(store.changePet(7n, sell));
    const keys = new Set(sent.filter(({ method }) => method === 'PATCH').map(keyOf));
    expect([sent.length, keys.size]).toEqual([5, 1]);
  });

  test('has the key of the caller in each request', async () => {
    const sent = fakeApi(found(), CHANGED_SINCE, found('"c"'), CHANGED);
    await ended(store.changePet(7n, sell, { idempotencyKey: 'mine' }));
    expect(sent.filter(({ method }) => method === 'PATCH').map(keyOf)).toEqual(['mine', 'mine']);
  });

  test.each<[object, FakeResponse, string]>([
    [{}, failure(500, 'internal_error'), 'internal_error'],
    [{ idempotencyKey: 'mine' }, failure(500, 'internal_error'), 'internal_error'],
    [{ idempotencyKey: 'mine', ifMatch: '"a"' }, { ...CHANGED, body: '<html>' }, 'storage_unavailable'],
    [{ idempotencyKey: 'mine' }, failure(422, 'idempotency_conflict'), 'idempotency_conflict'],
  ])('of a function, with %j, an error does not say that a key helps', async (options, fate, code) => {
    fakeApi(found(), fate);
    expect(await errorOf(store.changePet(7n, sell, options))).toMatchObject({
      code,
      message: 'an earlier request may have changed the pet: read it, then decide',
      idempotencyKey: undefined,
      cause: expect.any(Error),
    });
  });

  test.each(['', 'a', 'W/"a"', '"a", "b"', '"a"\r\nX: y'])(
    'refuses the malformed tag %j, which would change the meaning of the request',
    async (ifMatch) => {
      const sent = fakeApi(CHANGED_SINCE);
      for (const tags of [ifMatch, [ifMatch]])
        await expect(store.changePet(7n, {}, { ifMatch: tags })).rejects.toThrow(refusal(/^ifMatch: /));
      expect(sent).toEqual([]);
    },
  );

  test('sends a tag that matches nothing instead of one that is not ASCII', async () => {
    const sent = fakeApi(CHANGED_SINCE);
    const error = await errorOf(store.changePet(7n, {}, { ifMatch: '"é"' }));
    expect(error.code).toBe('precondition_failed');
    expect(sent.map(tagOf)).toEqual(['""']);
  });

  test('refuses an invalid change and key before a request', async () => {
    const sent = fakeApi(CHANGED);
    const invalid = INVALID_PETS.at(-1)?.input as never;
    await expect(store.changePet(7n, invalid)).rejects.toMatchObject({ code: 'invalid_request' });
    const refused = refusal(/^expected one idempotency key/);
    for (const idempotencyKey of ['a b', null as never])
      await expect(store.changePet(7n, {}, { idempotencyKey })).rejects.toThrow(refused);
    expect(sent).toEqual([]);
  });

  test.each<[string, FakeResponse]>([
    ['of another pet', { ...CHANGED, body: petJson({ ...CHANGED_PET, id: 8n }) }],
    ['without the change', { ...CHANGED, body: REX }],
    ['without an entity tag', { ...CHANGED, headers: {} }],
    ['without JSON', { ...CHANGED, body: '<html>' }],
  ])('with a response %s, the outcome is unknown', async (_name, fate) => {
    const sent = fakeApi(fate);
    const error = await errorOf(store.changePet(7n, CHANGE));
    expect(error).toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(/may be changed: repeat the change with the same Idempotency-Key$/),
      idempotencyKey: sent.map(keyOf)[0],
    });
  });
});

test('removePet sends DELETE with the tag and a key, also again', async () => {
  const sent = fakeApi(lostConnection(), { status: 204 });
  await ended(store.removePet(7n, { ifMatch: '"a"' }));
  const request = { method: 'DELETE', url: `${BASE}/pets/7`, body: undefined };
  expect(sent).toMatchObject([request, request]);
  expect(sent.map(tagOf)).toEqual(['"a"', '"a"']);
  expect(new Set(sent.map(keyOf)).size).toBe(1);
});

test('an abort ends the wait for a function', async () => {
  const sent = fakeApi(found());
  const reason = new Error('enough');
  const controller = new AbortController();
  const call = store.changePet(7n, () => new Promise(() => {}), { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 10);
  expect(await errorOf(call)).toBe(reason);
  expect(sent).toHaveLength(1);
});

test.each([
  [404, 'not_found'],
  [409, 'invalid_transition'],
  [412, 'precondition_failed'],
  [422, 'idempotency_conflict'],
  [428, 'precondition_required'],
])('%i comes back as %s, and is not sent again', async (status, code) => {
  const sent = fakeApi(failure(status, code));
  const message = `the message of ${code}`;
  expect(await errorOf(store.changePet(7n, {}))).toMatchObject({ code, message, idempotencyKey: undefined });
  expect(await errorOf(store.removePet(7n))).toMatchObject({ code, message });
  expect(sent).toHaveLength(2);
});

/** The message of the server tells a wrong address from a server without the operations. */
const UNSERVED = refusal(new RegExp(`^${NOT_SERVED} \\(the message of \\w+\\)$`));

test('a server without the operations is refused by name, and a wrong address as such', async () => {
  fakeApi(failure(405, 'method_not_allowed'));
  await expect(ended(store.changePet(7n, {}))).rejects.toThrow(UNSERVED);
  await expect(ended(store.removePet(7n))).rejects.toThrow(UNSERVED);
  fakeApi(found(), failure(405, 'method_not_allowed'));
  await expect(ended(store.changePet(7n, sell))).rejects.toThrow(UNSERVED);
  fakeApi(failure(404, 'not_found'));
  await expect(ended(store.listChanges())).rejects.toThrow(UNSERVED);
  await expect(ended(store.followChanges().next())).rejects.toThrow(UNSERVED);
  fakeApi({ status: 404, body: '<html>' });
  const change = (by: Parameters<typeof store.changePet>[1]) => store.changePet(7n, by);
  for (const call of [() => store.listChanges(), () => change({}), () => change(sell)])
    expect((await errorOf(call())).message).toMatch(/expected a base address/);
});

test.each<[string, FakeResponse]>([
  ['of another pet', { ...found(), body: petJson({ ...PET, id: 8n }) }],
  ['without an entity tag', { status: 200, body: REX }],
])('a pet %s is not taken for the one to change', async (_name, fate) => {
  const sent = fakeApi(fate);
  const error = await errorOf(store.changePet(7n, sell));
  expect(error).toMatchObject({ code: 'storage_unavailable', idempotencyKey: undefined });
  expect(sent).toHaveLength(1);
});

describe('the changes', () => {
  const page = (items: string, next?: string): FakeResponse => ({
    status: 200,
    body: `[${items}]`,
    headers: next === undefined ? {} : { Link: `</v1/changes?limit=2&after=${next}>; rel="next"` },
  });
  const ITEM = `{"cursor":"c-1","pet":${REX},"etag":"\\"a\\""}`;
  const REMOVED = '{"cursor":"c-2","removed":9223372036854775807}';

  test('are pets with the tags of the server, and removed ids', async () => {
    const sent = fakeApi(page(`${ITEM},${REMOVED}`));
    const { changes, ...rest } = await store.listChanges({ after: 'c/0', limit: 2 });
    expect(changes).toMatchObject([
      { cursor: 'c-1', pet: PET, etag: '"a"' },
      { cursor: 'c-2', removed: 9223372036854775807n },
    ]);
    expect(rest).toEqual({ next: 'c-2', more: false });
    expect(sent[0]?.url).toBe(`${BASE}/changes?limit=2&after=c%2F0`);
  });

  test.each([
    [page('', 'c-5'), 'c-0', { changes: [], next: 'c-5', more: true }],
    [page(''), 'c-0', { changes: [], next: 'c-0', more: false }],
    [page(''), undefined, { changes: [], next: undefined, more: false }],
  ])('of an empty page have a cursor to go on with', async (fate, after, expected) => {
    fakeApi(fate);
    expect(await store.listChanges({ after })).toEqual(expected);
  });

  test.each([
    page('{}'),
    page('7'),
    { status: 200, body: '{}' },
    page(`${ITEM},${ITEM},${ITEM}`),
    page(ITEM.replace('c-1', 'c 1')),
    page(ITEM.replace('etag', 'tag')),
    page('{"cursor":"c-1"}'),
    page(ITEM, 'c-0'),
    page(ITEM, ''),
  ])('that break the rules of a page are refused: %j', async (fate) => {
    fakeApi(fate);
    const refused = refusal(/^the server does not respond as the API does/, 'storage_unavailable');
    await expect(store.listChanges({ after: 'c-0', limit: 2 })).rejects.toThrow(refused);
  });

  test.each(['', 'a b', 'x'.repeat(65), 7])(
    'after the cursor %j are refused before a request',
    async (after) => {
      const sent = fakeApi(page(''));
      const refused = refusal('after must be a cursor of a change');
      await expect(store.listChanges({ after: after as string })).rejects.toThrow(refused);
      await expect(store.listChanges({ limit: 101 })).rejects.toThrow(refusal(/^limit must be/));
      expect(sent).toEqual([]);
    },
  );

  test('are followed page by page, until the server asks for a new beginning', async () => {
    vi.useRealTimers();
    const restart = failure(410, 'restart_required');
    const faults = [failure(503, 'overloaded'), failure(500, 'internal_error')];
    const proxy = { status: 403, body: '<html>' };
    const sent = fakeApi(page(ITEM, 'c-1'), page(''), ...faults, proxy, page(REMOVED), restart);
    const follower = store.followChanges({ interval: 1 });
    expect((await follower.next()).value).toMatchObject({ cursor: 'c-1' });
    expect((await follower.next()).value).toMatchObject({ removed: 9223372036854775807n });
    await expect(follower.next()).rejects.toMatchObject({ code: 'restart_required' });
    const cursors = sent.map(({ url }) => new URL(url).searchParams.get('after'));
    expect(cursors).toEqual([null, ...Array(5).fill('c-1'), 'c-2']);
  });
});
