/** Which calls are retried, when, and how they end. The clock is a fake, and so is the server. */

import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RESPONSE_LIMIT } from '../../../src/adapters/api-client/errors.ts';
import type { AnimalStoreError } from '../../../src/domain/errors.ts';
import { REX, REX_JSON } from '../../support/pets.ts';
import {
  BASE,
  ended,
  errorOf,
  type FakeResponse,
  type Fate,
  failure,
  fakeApi,
  lostConnection,
  openStore,
  petText,
} from './fake-api.ts';

const EMPTY: Fate = { status: 200, body: '[]' };
const CREATED: FakeResponse = { status: 201, body: REX_JSON.replace('{', '{"id":1,') };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  // Makes each pause before a retry as long as possible.
  vi.spyOn(Math, 'random').mockReturnValue(1);
  onTestFinished(() => void vi.restoreAllMocks());
});

function refused(code: string, members: object = {}): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code, ...members }) });
}

function ownCause(): Error {
  const error = new Error('no fetch');
  return Object.assign(error, { cause: error });
}

/** Returns the error that a program in Jest gets from the `fetch` of Node.js. */
function foreignRefusal(): Error {
  const cause: unknown = runInNewContext("Object.assign(new Error('x'), { code: 'ECONNREFUSED' })");
  return new TypeError('fetch failed', { cause });
}

test.each<[name: string, fate: Fate, pause: number]>([
  ['a refused connection', lostConnection(), 100],
  ['a body that is cut', 'cut body', 100],
  ['a body that ends too early', { begun: '{"id":1' }, 100],
  ['a body that ends before it begins', { begun: '' }, 100],
  ['a rejection without an error', 'no error', 100],
  ['an error whose body ends too early', { status: 404, body: '{"code":"not_' }, 100],
  ['408', failure(408, 'request_timeout'), 100],
  ['429 with Retry-After', failure(429, 'rate_limited', { 'Retry-After': '3' }), 3100],
  ['502 of a proxy', { status: 502, body: '<h1>Bad Gateway</h1>' }, 100],
  ['503', failure(503, 'overloaded', { 'Retry-After': '1' }), 1100],
  ['504 of a proxy', { status: 504 }, 100],
])('after %s, a read is retried, and a create with the same key and body', async (_name, fate, pause) => {
  const store = await openStore();
  const reads = fakeApi(fate, EMPTY);
  expect((await ended(store.listPage())).pets).toEqual([]);
  expect(reads.map(({ at }) => at)).toEqual([0, pause]);
  const creates = fakeApi(fate, CREATED);
  expect((await ended(store.createPet(REX))).id).toBe(1n);
  const [first, second] = creates;
  expect(creates).toHaveLength(2);
  expect(second?.headers.get('Idempotency-Key')).toMatch(/^[0-9a-f]{32}$/);
  expect(second?.headers.get('Idempotency-Key')).toBe(first?.headers.get('Idempotency-Key'));
  expect(second?.body).toBe(REX_JSON);
});

test.each([
  failure(400, 'invalid_request'),
  failure(422, 'idempotency_conflict'),
  failure(500, 'internal_error'),
])('$status is not retried', async (fate) => {
  const sent = fakeApi(fate);
  const { code } = JSON.parse(fate.body ?? '') as { code: string };
  const error = await errorOf((await openStore()).listPage());
  expect(error).toMatchObject({ code, message: `the message of ${code}` });
  expect(sent).toHaveLength(1);
});

test('after a lost response, a key of another request proves that nothing was stored', async () => {
  const sent = fakeApi('cut body', failure(422, 'idempotency_conflict'));
  const error = await errorOf((await openStore()).createPet(REX, { idempotencyKey: 'used' }));
  const code = 'idempotency_conflict';
  expect(error).toMatchObject({ code, message: `the message of ${code}` });
  expect(sent).toHaveLength(2);
});

test('the pauses double up to two seconds, until the time is over', async () => {
  const sent = fakeApi(lostConnection());
  const store = await openStore({ timeout: 10_000 });
  const error = await errorOf(store.listPage());
  expect(sent.map(({ at }) => at)).toEqual([0, 100, 300, 700, 1500, 3100, 5100, 7100, 9100]);
  expect(error).toMatchObject({
    code: 'storage_unavailable',
    message: `the server cannot be reached: connect ECONNREFUSED 127.0.0.1:1`,
    idempotencyKey: undefined,
    cause: { message: `${BASE}: connect ECONNREFUSED 127.0.0.1:1`, cause: { message: 'fetch failed' } },
  });
});

test('of a name with several addresses, the error of the first is shown', async () => {
  const errors = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:1`));
  fakeApi(new TypeError('fetch failed', { cause: new AggregateError(errors) }));
  const error = await errorOf((await openStore({ timeout: 100 })).listPage());
  expect(error.message).toBe(`the server cannot be reached: connect ECONNREFUSED ::1:1`);
});

test.each([
  [undefined, 30_000],
  [{ timeout: 500 }, 500],
  [Object.create({ timeout: 500 }), 500],
] as const)('the time of a call with %o is %d ms', async (options, time) => {
  const sent = fakeApi(lostConnection());
  await errorOf((await openStore()).listPage({}, options));
  const last = sent.at(-1)?.at ?? 0;
  expect(last).toBeLessThan(time);
  expect(last + 2000).toBeGreaterThanOrEqual(time);
});

describe('a create is not retried after a day, when the server has forgotten its key', () => {
  const DAY = 24 * 60 * 60 * 1000;
  const unknown = { code: 'storage_unavailable', idempotencyKey: expect.any(String) };

  test('although the clock of the timeout stops while the computer sleeps', async () => {
    const sent = fakeApi('silence', CREATED);
    const creating = errorOf((await openStore()).createPet(REX));
    vi.setSystemTime(Date.now() + DAY);
    expect(await creating).toMatchObject(unknown);
    expect(sent).toHaveLength(1);
  });

  test('although its timeout is longer', async () => {
    fakeApi('silence');
    const creating = (await openStore()).createPet(REX, { timeout: 2 ** 31 - 1 });
    const ends = expect(creating).rejects.toMatchObject(unknown);
    await vi.advanceTimersByTimeAsync(DAY);
    await ends;
  });

  test('and not after its timeout, although the time of day is set back', async () => {
    const sent = fakeApi(lostConnection());
    const creating = errorOf((await openStore()).createPet(REX));
    vi.setSystemTime(Date.now() - DAY);
    expect(await creating).toMatchObject(unknown);
    expect(sent.at(-1)?.at).toBeLessThan(30_000);
  });
});

test('a server that asks for a longer pause than there is time ends the call at once', async () => {
  const sent = fakeApi(failure(429, 'rate_limited', { 'Retry-After': '3600' }));
  const error = await errorOf((await openStore()).createPet(REX));
  expect(error).toMatchObject({ code: 'rate_limited', retryAfter: 3600, idempotencyKey: undefined });
  expect(sent).toHaveLength(1);
});

test('a Retry-After of any length is a number that a server can forward', async () => {
  fakeApi(failure(429, 'rate_limited', { 'Retry-After': '9'.repeat(400) }));
  expect(await errorOf((await openStore()).listPage())).toMatchObject({ retryAfter: 2 ** 31 - 1 });
});

test('Retry-After can be a date', async () => {
  const date = new Date(Date.now() + 5000).toUTCString();
  const sent = fakeApi(failure(503, 'overloaded', { 'Retry-After': date }), EMPTY);
  await ended((await openStore()).listPage());
  expect(sent[1]?.at).toBeGreaterThan(4000);
  expect(sent[1]?.at).toBeLessThanOrEqual(5100);
});

test('an attempt without a response is given up after a third of the time', async () => {
  const sent = fakeApi('silence', EMPTY);
  await ended((await openStore()).listPage());
  expect(sent.map(({ at }) => at)).toEqual([0, 10_100]);
});

describe('the outcome of a create', () => {
  test('is unknown when the connection was lost: the error has the key to go on with', async () => {
    const sent = fakeApi(lostConnection());
    const store = await openStore({ timeout: 2000 });
    const error = await errorOf(store.createPet(REX));
    const key = sent[0]?.headers.get('Idempotency-Key') ?? '';
    expect(error).toMatchObject({ code: 'storage_unavailable', idempotencyKey: key });
    expect(error.message).toContain('the pet may be stored');
    const again = fakeApi(CREATED);
    await ended(store.createPet(REX, { idempotencyKey: error.idempotencyKey }));
    expect(again[0]?.headers.get('Idempotency-Key')).toBe(key);
  });

  const REFUSALS: readonly FakeResponse[] = [
    failure(400, 'invalid_request'),
    failure(401, 'unauthorized'),
    failure(404, 'not_found'),
    failure(429, 'rate_limited'),
    failure(503, 'overloaded'),
  ];
  type Case = readonly [name: string, fates: readonly Fate[]];
  const UNKNOWN: readonly Case[] = [
    ...REFUSALS.map((refusal): Case => [`a lost attempt and ${refusal.status}`, [lostConnection(), refusal]]),
    ['500', [failure(500, 'internal_error')]],
    ['503 of the storage', [failure(503, 'storage_unavailable')]],
    ['a response that is cut', ['cut body']],
    ['a response that always ends too early', [{ begun: '{' }]],
    ['a rejection without an error', ['no error']],
    ['an error that is its own cause', [ownCause()]],
    ['a response of another program', [{ status: 201, body: '<html>' }]],
    ['another 2xx', [{ ...CREATED, status: 200 }]],
    ['a redirect', [{ status: 303, headers: { Location: '/' } }]],
    ...[400, 401, 404, 422, 429, 500].map(
      (status): Case => [`a page of a proxy with status ${status}`, [{ status, body: '<html>' }]],
    ),
    ['an error with another status', [{ ...failure(400, 'invalid_request'), status: 409 }]],
    ['another pet', [{ status: 201, body: petText(1n) }]],
    ['a body without an end', [{ ...CREATED, body: ' '.repeat(RESPONSE_LIMIT + 1) }]],
    ['a refusal of the own certificate', [refused('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')]],
    ['a connection that was reset', [refused('ECONNRESET')]],
  ];
  /** The codes of errors that occur before a request is sent. */
  const NOT_SENT =
    'ECONNREFUSED ENOTFOUND ERR_TLS_CERT_ALTNAME_INVALID DEPTH_ZERO_SELF_SIGNED_CERT CERT_HAS_EXPIRED';

  test.each<readonly [outcome: string, ...Case]>([
    ...UNKNOWN.map((each) => ['unknown', ...each] as const),
    ...REFUSALS.map((refusal) => ['known', String(refusal.status), [refusal]] as const),
    ...NOT_SENT.split(' ').map((code) => ['known', code, [refused(code)]] as const),
    ['known', 'a blocked port', [new TypeError('fetch failed', { cause: new Error('bad port') })]],
    ['known', 'a call of the system', [refused('EPERM', { syscall: 'connect' })]],
    ['known', 'an error of another realm', [foreignRefusal()]],
  ])('is %s after %s', async (outcome, _name, fates) => {
    const isUnknown = outcome === 'unknown';
    const sent = fakeApi(...fates);
    const store = await openStore({ timeout: 2000 });
    const { code, idempotencyKey, message, cause } = await errorOf(store.createPet(REX));
    const key = sent[0]?.headers.get('Idempotency-Key');
    const told = isUnknown ? [key, true] : [undefined, false];
    expect([idempotencyKey, message.includes('may be stored')]).toEqual(told);
    // The other codes say that the call had no effect, or that its input is invalid.
    const codes = ['storage_unavailable', 'internal_error', 'unauthorized', 'forbidden'];
    const known = (cause as AnimalStoreError | undefined)?.code ?? '';
    if (isUnknown) expect(code).toBe(codes.includes(known) ? known : 'storage_unavailable');
  });
});

const reason = new Error('no longer needed');

test.each([
  ['before the call', 0],
  ['during an attempt', 5000],
  ['during a pause', 10_050],
])(
  'an abort %s ends the call: a create that may be stored has its key, and the others the reason',
  async (_when, time) => {
    const sent = fakeApi('silence');
    const store = await openStore();
    const controller = new AbortController();
    if (time === 0) controller.abort(reason);
    else setTimeout(() => controller.abort(reason), time);
    const options = { signal: controller.signal };
    const calls = [
      store.listPage({}, options),
      store.createPet(REX, { ...options, idempotencyKey: 'k' }),
      store.listPets({}, options).next(),
    ];
    const results = vi.fn();
    void Promise.allSettled(calls).then(results);
    await vi.advanceTimersByTimeAsync(time);
    const unknown = { code: 'storage_unavailable', idempotencyKey: 'k', cause: reason };
    const created = time > 0 ? expect.objectContaining(unknown) : reason;
    const rejected = [reason, created, reason].map((each) => ({ status: 'rejected', reason: each }));
    expect(results).toHaveBeenCalledWith(rejected);
    expect(sent).toHaveLength(time === 0 ? 0 : calls.length);
    expect(vi.getTimerCount()).toBe(0);
    await store.close();
  },
);

test('close waits for the creates in flight, and every later call is refused', async () => {
  const sent = fakeApi(lostConnection(), CREATED);
  const store = await openStore();
  const creating = store.createPet(REX);
  const closing = store.close().then(() => sent.length);
  expect(await ended(closing)).toBe(2);
  expect((await creating).id).toBe(1n);
  await expect(store.getPet(1n)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(sent).toHaveLength(2);
});

test('close ends the reads in flight at once', async () => {
  fakeApi(lostConnection());
  const store = await openStore();
  const calls = [store.getPet(1n), store.listPage({}, { signal: new AbortController().signal })];
  const results = Promise.allSettled(calls);
  await store.close();
  const closed = { status: 'rejected', reason: expect.objectContaining({ message: 'the store is closed' }) };
  expect(await results).toEqual([closed, closed]);
  expect(vi.getTimerCount()).toBe(0);
});

test('return() of a follower ends its request at once', async () => {
  fakeApi('silence');
  const follower = (await openStore()).followPets();
  const pending = follower.next();
  await vi.advanceTimersByTimeAsync(1);
  await follower.return();
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(vi.getTimerCount()).toBe(0);
});

test('the check of the server takes a second at most', async () => {
  const sent = fakeApi('silence');
  const error = await errorOf((await openStore()).check());
  expect(error).toMatchObject({
    code: 'storage_unavailable',
    message: `the server cannot be reached: no complete response within 1000 ms`,
  });
  expect(sent).toHaveLength(1);
});

test('when the time is over during an attempt, the error says why the attempt before it failed', async () => {
  const sent = fakeApi(failure(503, 'storage_unavailable'), 'silence');
  const error = await errorOf((await openStore({ timeout: 900 })).listPage());
  expect(error).toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('the message of storage_unavailable'),
  });
  expect(sent).toHaveLength(2);
});
