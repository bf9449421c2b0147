/** API keys and their secret parts never reach the log or a response, wherever a client puts them in a request. */

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { formatApiKey, secretPartFinder } from '../../../src/domain/api-key.ts';
import { registerKey } from '../../support/canary.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedServer } from '../../support/server.ts';

// `PROPERTY_RUNS` can make the test long.
vi.setConfig({ testTimeout: 600_000 });

/** A part of a key with this length is secret. */
const PART = 16;

const STORED = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
const CONFIGURED = [
  'an/operators+own?key<of>32-characters',
  'c0ffee5e-1b2d-4f6a-8c9e-0123456789ab',
  'a1b2c3d4e5f60718293a4b5c6d7e8f90',
];

const server = sharedServer('memory', {
  apiKeys: { verify: async () => undefined, hasPartOfKey: secretPartFinder(CONFIGURED) },
});
for (const key of [STORED, ...CONFIGURED]) registerKey(key);

const percent = (text: string) => `%${text.charCodeAt(0).toString(16).padStart(2, '0')}`;
const encodings: readonly ((character: string) => string)[] = [
  (character) => (/[\w.~-]/.test(character) ? character : percent(character)),
  percent,
  (character) => percent(character).toUpperCase(),
  (character) => percent('%') + percent(character).slice(1),
  (character) => character.toUpperCase(),
  encodeURIComponent,
];

/** A part of a key, and the same part with each character in an encoding of its own. */
const part = fc
  .tuple(
    fc.constantFrom(STORED, ...CONFIGURED),
    fc.nat(60),
    fc.oneof(fc.constant(64), fc.integer({ min: PART, max: 64 })),
    fc.array(fc.nat(encodings.length - 1), { minLength: 1, maxLength: 5 }),
  )
  .map(([key, from, length, ways]) => {
    // The server knows only the prefix of a stored key, so it cannot recognize a part without the prefix.
    const start = key === STORED ? 0 : Math.min(from, key.length - PART);
    const plain = key.slice(start, start + length);
    const encode = (character: string, index: number) =>
      encodings[ways[index % ways.length] as number]?.(character) ?? character;
    return { key, plain, encoded: [...plain].map(encode).join('') };
  })
  .filter(({ plain }) => plain.replaceAll('-', '').length >= PART);
const before = fc.constantFrom('/', '/v1/', '/v1/pets/', '/docs/', '/v1/pets/7/', '//', '/%2f', '/metrics/');
const padding = fc.oneof(fc.constant(0), fc.nat(300)).map((length) => 'x'.repeat(length));
const idParts = fc.constantFrom('', 'id-', 'pets-');

/** Decodes a text until nothing changes. Ignores case and hyphens, which a reader of the log could easily restore. */
function plainest(text: string): string {
  const decoded = text.replaceAll(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  return decoded === text ? text.toLowerCase().replaceAll('-', '') : plainest(decoded);
}

function expectNoPart(text: string, key: string): void {
  const shown = plainest(text);
  const secret = plainest(key);
  for (let end = PART; end <= secret.length; end += 1) {
    const found = shown.indexOf(secret.slice(end - PART, end));
    expect(found, text.slice(Math.max(0, found - 40), found + 80)).toBe(-1);
  }
}

test('no part of a key, in any encoding and at any place, is in the log or in the response', async () => {
  await fc.assert(
    fc.asyncProperty(
      part,
      before,
      padding,
      idParts,
      fc.constantFrom('none', 'the same', 'wrong'),
      async ({ key, plain, encoded }, start, filler, idStart, given) => {
        server.outcomes.length = 0;
        const digits = plain.replaceAll(/[^0-9a-f]/g, '');
        const hex = digits.length < PART ? '' : digits;
        const answer = await server.client.request('GET', `${start}${filler}${encoded}/y`, {
          key: { none: null, 'the same': key, wrong: 'wrong' }[given] ?? null,
          headers: {
            'X-Request-Id': idStart + plain.replaceAll(/[^\w-]/g, '').padEnd(PART, 'x'),
            traceparent: `00-${hex.padEnd(32, '1').slice(0, 32)}-00f067aa0ba902b7-01`,
          },
        });
        await expect.poll(() => server.outcomes.length).toBe(1);
        expectNoPart(JSON.stringify(server.outcomes), key);
        expectNoPart(JSON.stringify([answer.rawHeaders, answer.body]), key);
      },
    ),
    runs(300),
  );
});

/** Sends a request with this request id. Resolves with that of the response. */
async function idFor(requestId: string): Promise<string | undefined> {
  const fields = { headers: { 'X-Request-Id': requestId }, key: null };
  return (await server.client.request('GET', '/livez', fields)).headers['x-request-id'];
}

test.each([
  ['a key without its prefix', STORED.slice(5)],
  ['a key with another prefix', STORED.replace('pets_', 'pets-')],
  ['a configured key', CONFIGURED[2] as string],
  ['a configured UUID', CONFIGURED[1] as string],
  ['a configured UUID without hyphens, in another case', CONFIGURED[1]?.replaceAll('-', '').toUpperCase()],
  ['a UUID with a part of a configured key', 'ffffffff-a1b2-c3d4-e5f6-0718293a4b5c'],
])('the request id is new if the client sent %s', async (_case, requestId = '') => {
  const id = await idFor(requestId);
  expect(id).toMatch(/^[\da-f-]{36}$/);
  expect(id).not.toBe(requestId);
});

/** If a short id were compared with the configured keys, a client could guess a key character by character. */
test('a short request id is kept, so that it says nothing about the configured keys', async () => {
  for (const id of CONFIGURED.map((key) => key.slice(0, PART - 1).replaceAll(/[^\w-]/g, '')))
    expect(await idFor(id)).toBe(id);
});
