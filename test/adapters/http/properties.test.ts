/** Tests with random requests that every response is documented. The test client checks the format of each response. */

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ATTRIBUTES, type NewPet, newPet, PET_ATTRIBUTES } from '../../../src/domain/pet.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { newPetJson, parsePet, petJson } from '../../../src/domain/pet-json.ts';
import { sampleValues } from '../../../src/testing/fixtures/pets.ts';
import { anyNewPet } from '../../support/any-pet.ts';
import { CARRIER } from '../../support/carrier.ts';
import type { Answer } from '../../support/client.ts';
import { codePoint } from '../../support/code-points.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { REX } from '../../support/pets.ts';
import { runs } from '../../support/property-runs.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';
import { METHODS } from './paths.ts';

// `PROPERTY_RUNS` can make each test long.
vi.setConfig({ testTimeout: 600_000 });

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const filterValue = fc.constantFrom(
  'x',
  ...PET_FILTERS.flatMap((name) =>
    sampleValues(ATTRIBUTES[name]).map((value) => encodeURIComponent(String(value))),
  ),
);

/** The JSON text of a number that is an integer or nearly an integer. */
const numberText = fc.oneof(
  int64.map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(int64, fc.nat(30), fc.integer({ min: -30, max: 30 }))
    .map(([value, zeros, exponent]) => `${value}.${'0'.repeat(zeros + 1)}e${exponent}`),
  fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: -400, max: 400 })).map(([a, b, e]) => `${a}.${b}E${e}`),
);
const wild = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.json({ maxDepth: 3, noUnicodeString: false }),
  numberText,
  fc.string({ unit: codePoint }).map((text) => JSON.stringify(text)),
  fc.constantFrom(...'null true "" [] {} {"__proto__":{}} "\\ud83d" "\\u0000" 1e999999999'.split(' ')),
);
const members = [...PET_ATTRIBUTES, 'id', '__proto__', 'toString'];
const nearlyValid = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...members), { maxLength: members.length }),
    fc.infiniteStream(
      fc.oneof({ weight: 1, arbitrary: wild }, { weight: 2, arbitrary: fc.constant(undefined) }),
    ),
  )
  .map(
    ([names, values]) =>
      `{${names.map((member) => `"${member}":${textOf(member, values.next().value)}`).join(',')}}`,
  );

const VALID: Readonly<Record<string, string>> = Object.fromEntries(
  PET_ATTRIBUTES.map((name) => [
    name,
    newPetJson({ [name]: REX[name] } as unknown as NewPet).replace(/^.*?:|\}$/g, ''),
  ]),
);

function textOf(member: string, value: string | undefined): string {
  return value ?? VALID[member] ?? '1';
}

/** The contracts of the storages have random pets and queries, too. */
describe.each(IS_WHOLE ? STORAGES : (['memory'] as const))('random requests, on %s', (storage) => {
  const server = sharedServer(storage);

  test('a valid create is returned unchanged by get and by list', async () => {
    await fc.assert(
      fc.asyncProperty(anyNewPet, async (given) => {
        const created = await server.client.post(newPetJson(given));
        expect(created.status).toBe(201);
        const { id } = JSON.parse(created.body);
        const stored = petJson({ id, ...newPet(given) });
        expect(created.body).toBe(stored);
        expect((await server.client.get(`/v1/pets/${id}`)).body).toBe(stored);
        expect((await server.client.get(`/v1/pets?limit=1&after=${id - 1}`)).body).toBe(`[${stored}]`);
      }),
      runs(30),
    );
  });

  test('a query is 200 or 400', async () => {
    const value = fc.oneof(
      fc.integer().map(String),
      int64.map(String),
      filterValue,
      fc.webQueryParameters(),
      fc.constant(''),
    );
    const pair = fc.tuple(
      fc.constantFrom('limit', ...PET_FILTERS, 'after', 'page', 'limit[]', '%6cimit'),
      value,
    );
    const pairs = fc
      .array(pair, { maxLength: 4 })
      .map((list) => list.map((parts) => parts.join('=')).join('&'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(pairs, fc.webQueryParameters(), visible(60)), async (text) => {
        const answer = await server.client.get(`/v1/pets?${text}`);
        expect([200, 400]).toContain(answer.status);
        if (answer.status !== 200) return;
        const limit = new URLSearchParams(text).get('limit') ?? '20';
        expect(JSON.parse(answer.body).length).toBeLessThanOrEqual(Number(limit));
      }),
      runs(50),
    );
    expect(server.errors).toEqual([]);
  });

  test('a petId is 200 or 404', async () => {
    const petId = fc.oneof(int64.map(String), fc.nat(50).map(String), visible(40), fc.webSegment());
    await fc.assert(
      fc.asyncProperty(petId, async (text) => {
        // A carrier can normalise dot segments, so that the request is one for another path.
        const segment = text.replaceAll(/[/?#\\]|^\.{1,2}$/g, '');
        const answer = await server.client.get(`/v1/pets/${segment || 'x'}`);
        expect([200, 404]).toContain(answer.status);
        if (answer.status === 200) expectPet(answer);
      }),
      runs(50),
    );
    expect(server.errors).toEqual([]);
  });
});

describe('random requests', () => {
  const server = sharedServer('memory');

  test.each([
    ['nearly a pet', nearlyValid],
    ['any JSON', fc.json()],
    [
      'JSON with a missing piece',
      fc
        .tuple(nearlyValid, fc.nat(40), fc.nat(5))
        .map(([text, at, count]) => text.slice(0, at) + text.slice(at + count)),
    ],
    ['any text', fc.string({ unit: codePoint, maxLength: 300 })],
    ['any bytes', fc.uint8Array({ maxLength: 300 })],
  ] as [string, fc.Arbitrary<string | Uint8Array>][])(
    'a body that is %s is 201 or 400',
    async (_case, bodies) => {
      await fc.assert(
        fc.asyncProperty(bodies, async (body) => {
          const answer = await server.client.post(body);
          expect([201, 400]).toContain(answer.status);
          if (answer.status === 201) expectPet(answer);
        }),
        runs(50),
      );
      expect(server.errors).toEqual([]);
    },
  );

  test('a method, a path and header fields never cause a 500', async () => {
    const method = fc.constantFrom(...METHODS.filter((each) => CARRIER !== 'fetch' || each !== 'TRACE'));
    const path = fc.oneof(
      visible(60),
      fc.webPath().map((text) => text.slice(1)),
      fc.constantFrom('v1/pets', 'v1/pets/1', 'livez'),
    );
    const names = 'If-None-Match X-Request-Id Content-Type Content-Encoding Accept Origin Authorization';
    const field = fc.constantFrom(...names.split(' '));
    const fields = fc.dictionary(field, fc.oneof(visible(40), latin1(40)), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(method, path, fields, async (verb, target, headers) => {
        const answer = await server.client.request(verb, `/${target}`, { headers });
        expect([200, 204, 304, 400, 401, 404, 405, 415, 428]).toContain(answer.status);
      }),
      runs(),
    );
    expect(server.errors).toEqual([]);
  });
});

/** Text of visible ASCII characters, which are allowed in a request line. */
function visible(maxLength: number): fc.Arbitrary<string> {
  return fc.stringMatching(/^[!-~]*$/, { maxLength });
}

function latin1(maxLength: number): fc.Arbitrary<string> {
  return fc.stringMatching(/^[\t -~\x80-\xff]*$/, { maxLength });
}

function expectPet({ body }: Answer): void {
  expect(petJson(parsePet(body))).toBe(body);
}
