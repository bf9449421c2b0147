/** Tests the modules of the reference page that need no browser. */

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiDescription } from '../../openapi/description.ts';
import { rulesOf, typeOf } from '../../page/constraints.ts';
import { entityTagsIn, withTagsOf } from '../../page/entity-tags.ts';
import { escapeReordering, formatJson, parseExact, writeExact } from '../../page/exact-json.ts';
import { highlight } from '../../page/highlight.ts';
import type { Schema } from '../../page/openapi.ts';
import { idIn, type Operation, type Reference, readReference, slugOf } from '../../page/reference.ts';
import { nextPage, requestOf, type SampleRequest } from '../../page/samples/request.ts';
import { type Language, SAMPLES } from '../../page/samples/samples.ts';
import { excerptOf, findEntries, wordsOf } from '../../page/search.ts';
import { openApiDocument } from '../../src/adapters/http/docs/openapi.ts';
import { PROGRAMS } from '../../src/adapters/http/docs/programs.ts';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import { BasicStore } from '../../src/application/basic-store.ts';
import { isAlwaysStored, PET_ATTRIBUTES } from '../../src/domain/pet.ts';
import { CHANGING } from '../support/lifecycle.ts';
import { runs } from '../support/property-runs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const guide = readFileSync(resolve(ROOT, 'docs/api.md'), 'utf8');
const headings = [...guide.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);

const BASE_URL = 'https://pets.example.org/v1';
const LANGUAGES = Object.keys(SAMPLES) as Language[];

let reference: Reference;

beforeEach(() => {
  reference = readReference(openApiDocument(BASE_URL));
});

function operation(slug: string, { operations } = reference): Operation {
  return operations.find((candidate) => candidate.slug === slug) as Operation;
}

/** Returns the request of an operation with these texts in its fields. */
function filledIn(of: Operation, texts: Readonly<Record<string, string>> = {}, body = ''): SampleRequest {
  return requestOf(of, { parameters: new Map(Object.entries(texts)), body }, BASE_URL);
}

test.each([
  ['', ''],
  ['#', ''],
  ['#list-pets', 'list-pets'],
  ['#caf%C3%A9', 'café'],
  ['#%', ''],
  ['#%zz', ''],
  ['#list-pets%', ''],
  ['#%ff', ''],
])('the fragment %j names the element %j', (hash, id) => {
  expect(idIn(hash)).toBe(id);
});

describe('exact JSON', () => {
  test.each([
    ['{"id":9007199254740993}', '{\n  "id": 9007199254740993\n}'],
    ['[-9223372036854775808,1]', '[\n  -9223372036854775808,\n  1\n]'],
    ['[1.50,1e3,-0.25,-0]', '[\n  1.50,\n  1e3,\n  -0.25,\n  -0\n]'],
    ['{"name":"{\\"a\\": [1,2]}"}', '{\n  "name": "{\\"a\\": [1,2]}"\n}'],
    [' { "a" : [ ] , "b" : { } , "c" : [ { } ] } ', '{\n  "a": [],\n  "b": {},\n  "c": [\n    {}\n  ]\n}'],
    ['"\\\\"', '"\\\\"'],
    ['null', 'null'],
  ])('%s keeps its text', (text, formatted) => {
    expect(formatJson(text)).toBe(formatted);
  });

  test('characters that would reorder the text are escaped', () => {
    const text = '"\u202eexe.\u2066\u2069\u200f\u061c, \u200d é"';
    const shown = escapeReordering(text);
    expect(shown).toBe(String.raw`"\u202eexe.\u2066\u2069\u200f\u061c, `.concat('\u200d é"'));
    expect(JSON.parse(shown)).toBe(JSON.parse(text));
  });

  test('any JSON keeps its value, and JSON.stringify would indent it in the same way', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(formatJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
      }),
      runs(),
    );
  });

  test('every int64 is read and written exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.string(), (id, name) => {
        const text = `{"id":${id},"name":${JSON.stringify(name)},"list":[${id},1.5,null,true]}`;
        expect(parseExact(text)).toEqual({ id, name, list: [id, 1.5, null, true] });
        expect(writeExact(parseExact(text))).toBe(text);
      }),
      runs(),
    );
  });

  test('text that is not JSON throws a SyntaxError', () => {
    expect(() => formatJson('{"id":9007199254740993')).toThrow(SyntaxError);
  });
});

describe('the contents', () => {
  test('are those of the OpenAPI document', () => {
    expect(reference).toMatchObject({ title: 'Animal Store', version: '1.0.0', serverUrl: BASE_URL });
    expect(reference.operations.map(({ slug, method, path }) => [slug, method, `/v1${path}`])).toEqual(
      servedOperations().map(({ id, method, path }) => [slugOf(id), method, path]),
    );
    const schemas = ['PetStatus', 'Pet', 'Pets', 'Error', 'NewPet'];
    expect(reference.schemas.map(([name]) => name)).toEqual(expect.arrayContaining(schemas));
  });

  test('include responses and errors', () => {
    const get = operation('get-pet');
    const [found, unchanged] = get.successes;
    expect(found).toMatchObject({ status: '200', content: { schema: { $ref: '#/components/schemas/Pet' } } });
    expect(found?.headers).toContainEqual(['ETag', expect.objectContaining({ required: true })]);
    expect(unchanged).toMatchObject({ status: '304', description: expect.stringMatching(/./) });
    expect(unchanged).not.toHaveProperty('content');
    expect(get.failures).toContainEqual({
      status: '404',
      code: 'not_found',
      when: 'No pet has this id, or nothing is at this path.',
      example: { code: 'not_found', message: 'there is no pet with id 1', status: 404n },
    });
    for (const { id, method } of servedOperations())
      expect(operation(slugOf(id)).failures.some(({ code }) => code === 'forbidden')).toBe(method !== 'GET');
    expect(operation('create-pet').body?.schema).toEqual({ $ref: '#/components/schemas/NewPet' });
    expect(get).not.toHaveProperty('body');
  });

  test('need no optional part of the document', () => {
    const json = { schema: {}, examples: { bad: { value: null } } };
    const texts = { slug: 'read-x', summary: 'Reads', description: 'x' };
    const responses = {
      200: { description: 'ok', headers: { Sunset: {} }, content: { 'application/json': json } },
      400: { description: 'bad', content: { 'application/json': json } },
      401: { description: 'no' },
      503: { description: 'full', content: { 'text/plain': { schema: {} } } },
    };
    const get = { ...texts, operationId: 'readX', deprecated: true, responses };
    const small = { info: {}, servers: [], paths: { '/x': { get } }, components: { schemas: {} } };
    const { operations, serverUrl } = readReference(JSON.stringify(small));
    expect(serverUrl).toBe('/');
    const successes = [{ status: '200', description: 'ok', headers: [['Sunset', {}]], content: json }];
    const failures = [{ status: '400', code: 'bad', example: null }];
    const common = { method: 'GET', path: '/x', isDeprecated: true, parameters: [] };
    expect(operations).toStrictEqual([{ ...texts, ...common, successes, failures }]);
  });

  test('have the schema to which another one refers, the one beside `null`, and all members of `oneOf`', () => {
    const description = 'a pet';
    const pet = { ...reference.schemas.find(([name]) => name === 'Pet')?.[1], description };
    expect(reference.resolve({ $ref: '#/components/schemas/Pet', description })).toStrictEqual(pet);
    const anyOf = [{ type: 'null' }, { type: 'string' }];
    expect(reference.resolve({ anyOf, description })).toStrictEqual({ type: 'string', description });
    const oneOf = [{ properties: { a: pet, b: pet }, required: ['a', 'b'] }, { properties: { a: pet } }, {}];
    const merged = { description, properties: { a: pet, b: pet }, required: [] };
    expect(reference.resolve({ oneOf, description })).toStrictEqual(merged);
    const [first] = oneOf;
    const both = [first, { ...first, required: ['a'] }] as Schema[];
    expect(reference.resolve({ oneOf: both }).required).toEqual(['a']);
  });
});

test('a change is a pet with its tag or a removal, and only an optional attribute can be removed', () => {
  const changing = readReference(openApiDocument(BASE_URL, { ...CHANGING }));
  const change = Object.fromEntries(changing.schemas)['Change'] as Schema;
  const forms = [
    ['cursor', 'pet', 'etag'],
    ['cursor', 'removed'],
  ];
  expect(change.oneOf?.map(({ required }) => required)).toEqual(forms);
  expect(Object.keys(changing.resolve(change).properties ?? {})).toEqual([...new Set(forms.flat())]);
  const { description } = operation('change-pet', changing);
  expect(description.includes('null')).toBe(!PET_ATTRIBUTES.every(isAlwaysStored));
});

const INT64 = { type: 'integer', format: 'int64', minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
const ascii = '^[!-~]{1,9}$';

test.each<[string, Schema, string[]]>([
  ['PetStatus', { $ref: '#/components/schemas/PetStatus' }, []],
  ['array of Pet', { type: 'array', items: { $ref: '#/components/schemas/Pet' } }, []],
  ['integer (int64)', INT64, ['-9223372036854775808 to 9223372036854775807']],
  ['integer', { type: 'integer', minimum: 1n, default: 20n }, ['at least 1', 'default 20']],
  ['string', { type: 'string', maxLength: 255n }, ['at most 255 code points']],
  ['string', { type: 'string', maxLength: 9n, pattern: ascii }, ['at most 9 visible ASCII characters']],
  ['string', { type: 'string', enum: ['a', 'b'] }, ['one of "a", "b"']],
  ['any', { const: '@1' }, ['always "@1"']],
])('a schema in words is %s', (type, schema, rules) => {
  expect(typeOf(schema)).toBe(type);
  expect(rulesOf(schema)).toEqual(rules);
});

describe('a request', () => {
  test('has the parameters that are given, and their text', () => {
    const texts = { limit: '', status: 'a&b', after: '09007199254740993' };
    expect(filledIn(operation('list-pets'), texts)).toEqual({
      operation: 'list-pets',
      baseUrl: BASE_URL,
      pathParameters: [],
      parameters: { status: 'a&b', after: '09007199254740993' },
      method: 'GET',
      url: `${BASE_URL}/pets?status=a%26b&after=09007199254740993`,
      headers: [],
    });
    expect(filledIn(operation('get-pet'), { petId: "1/$&'" }).url).toBe(`${BASE_URL}/pets/1%2F%24%26'`);
  });

  test('has no space around a parameter', () => {
    const request = filledIn(operation('get-pet'), { petId: ' 7\t' });
    expect(request).toMatchObject({ url: `${BASE_URL}/pets/7`, parameters: { petId: 7n } });
    expect(filledIn(operation('create-pet'), { 'Idempotency-Key': ' ' }).newKeyField).toBeDefined();
  });

  test.each<[string, string | boolean]>([
    ['true', true],
    ['false', false],
    ['true?', 'true?'],
    ['untrue', 'untrue'],
  ])('has the boolean %s', (text, value) => {
    const parameters = ['boolean', 'string'].map(
      (type) => ({ name: type, in: 'query', schema: { type } }) as const,
    );
    const request = filledIn({ ...operation('list-pets'), parameters }, { boolean: text, string: text });
    expect(request.parameters).toEqual({ boolean: value, string: text });
  });

  test('has the text of the body', () => {
    const body = ' {"categoryId": 9007199254740993 }';
    expect(filledIn(operation('create-pet'), {}, body)).toEqual({
      operation: 'create-pet',
      baseUrl: BASE_URL,
      pathParameters: [],
      parameters: {},
      method: 'POST',
      url: `${BASE_URL}/pets`,
      headers: [['Content-Type', 'application/json']],
      body,
      newKeyField: 'Idempotency-Key',
    });
    const ofCaller = filledIn(operation('create-pet'), { 'Idempotency-Key': 'mine' }, body);
    expect(ofCaller.newKeyField).toBeUndefined();
  });

  test.each([
    ['</v1/pets?limit=1&after=9007199254740993>; rel="next"', '9007199254740993'],
    ['</docs>; rel="deprecation", <https://a.example/pets?after=2>; rel=next', '2'],
    ['</v1/pets?after=2> ; title="next page"; rel="next"', '2'],
    ['</v1/pets?after=2>; rel="previous"', undefined],
    ['', undefined],
    [null, undefined],
  ])('the next page of %s is after %s', (link, after) => {
    expect(nextPage(link)?.get('after')).toBe(after);
  });
});

describe('the entity tags in a response', () => {
  const large = '9007199254740993';
  const pet = `{"id":${large},"name":"Rex"}`;

  test.each<[string, object, number, string | null, string, [string, string | undefined][]]>([
    ['of one pet', { petId: 7n }, 200, '"a"', '{}', [['7', '"a"']]],
    ['of one pet whose id is typed as text', { petId: '07' }, 200, '"a"', '{}', [['07', '"a"']]],
    ['of an older server', { petId: 7n }, 200, null, '{}', []],
    ['of a removal', { petId: 7n }, 204, null, '', [['7', undefined]]],
    ['of an unknown pet', { petId: 7n }, 404, null, '{}', [['7', undefined]]],
    ['of a lost update', { petId: 7n }, 412, '"a"', '{}', [['7', undefined]]],
    ['of a change that failed', { petId: 7n }, 503, '"a"', '{}', []],
    ['of a create', {}, 201, '"b"', pet, [[large, '"b"']]],
    ['of a create, of an older server', {}, 201, null, pet, []],
    ['of a create that failed', {}, 503, '"b"', pet, []],
    ['of a list, whose tag is that of the page', {}, 200, '"page"', `[${pet}]`, []],
    [
      'of changes',
      {},
      200,
      '"page"',
      `[{"cursor":"c-1","pet":${pet},"etag":"\\"d\\""},{"cursor":"c-2","removed":8}]`,
      [
        [large, '"d"'],
        ['8', undefined],
      ],
    ],
    ['of another server', {}, 200, '"a"', '<html>', []],
    ['of a server that responds null', {}, 200, '"a"', 'null', []],
  ])('%s', (_case, parameters, status, etag, text, expected) => {
    const request = { parameters } as Pick<SampleRequest, 'parameters'>;
    expect([...entityTagsIn(request, { status, etag, text, isReplay: false })]).toEqual(expected);
  });

  test.each<[string, object, [string, string | undefined][], string | undefined]>([
    ['is the first one of the pet', {}, [], '"old"'],
    ['is older than the known one', {}, [[large, '"new"']], '"new"'],
    ['is of a pet that was removed', {}, [[large, undefined]], undefined],
    ['is of a repeated change', { petId: large, 'If-Match': '"sent"' }, [[large, '"sent"']], '"old"'],
  ])('of a replay that %s', (_case, parameters, known, expected) => {
    const request = { parameters } as Pick<SampleRequest, 'parameters'>;
    const replay = { status: 'petId' in parameters ? 200 : 201, etag: '"old"', text: pet, isReplay: true };
    expect(withTagsOf(new Map(known), request, replay).get(large)).toBe(expected);
  });
});

describe('the samples', () => {
  /** The samples of these tests have four members of a pet, whatever attributes it has. */
  const brief =
    ({ resolve }: Reference): Reference['resolve'] =>
    (schema) => {
      const resolved = resolve(schema);
      const { id, name, categoryId, status } = resolved.properties ?? {};
      const isPet = id && name && categoryId && status;
      return { ...resolved, ...(isPet && { properties: { id, name, categoryId, status } }) };
    };
  const body = `{"name":"Минька's","categoryId":9007199254740993}`;
  let go: { resolve: Reference['resolve']; response: Schema };
  let request: SampleRequest;

  beforeEach(() => {
    go = { resolve: brief(reference), response: { $ref: '#/components/schemas/Pet' } };
    request = filledIn(operation('create-pet'), {}, body);
  });

  test.each(LANGUAGES)('of a create and of a list in %s', async (language) => {
    const create = { ...request, body: '{"name":"Rex"}' };
    await expect(`${SAMPLES[language](create, go)}\n`).toMatchFileSnapshot(`samples/${language}.txt`);
    const list = filledIn(operation('list-pets'), { limit: '5' });
    const sample = SAMPLES[language](list, { ...go, key: 'KEY', response: { type: 'object' } });
    await expect(`${sample}\n`).toMatchFileSnapshot(`samples/${language}-list.txt`);
  });

  test('quote every text', () => {
    const text = `{"a":"'\`\\n\${x}"}`;
    const odd = { ...request, body: text };
    expect(SAMPLES.curl(odd, go)).toContain(`--data-raw '{"a":"'\\''\`\\n\${x}"}'`);
    expect(SAMPLES.fetch(odd, go)).toContain(`body: ${JSON.stringify(text)},`);
    expect(SAMPLES.JavaScript(odd, go)).toContain(`createPet({ a: "'\`\\n\${x}" })`);
    expect(SAMPLES.Python(odd, go)).toContain(`data=${JSON.stringify(text)}.encode(),`);
    expect(SAMPLES.Go(odd, go)).toContain(`strings.NewReader(${JSON.stringify(text)})`);
    const lone = { ...request, body: String.raw`{"a":"\ud800"}` };
    expect(SAMPLES.JavaScript(lone, go)).toContain(String.raw`createPet({ a: "\ud800" })`);
  });

  test.each([
    ['get-pet', { petId: '9007199254740993' }, '', 'getPet(9007199254740993n)'],
    ['get-pet', { petId: 'x' }, '', "getPet('x')"],
    ['get-pet', { petId: '007' }, '', "getPet('007')"],
    ['list-pets', {}, '', 'listPage()'],
    ['list-pets', { status: 'sold', after: '-7' }, '', "listPage({ status: 'sold', after: -7n })"],
    ['list-pets', { status: '12', limit: '1x2' }, '', "listPage({ limit: '1x2', status: '12' })"],
    [
      'create-pet',
      { 'Idempotency-Key': 'k-1' },
      '{"name":"it\'s","categoryId":-9007199254740993,"more":[null,{"a b":1.5}]}',
      `createPet({ name: "it's", categoryId: -9007199254740993n, more: [null, { 'a b': 1.5 }] }, ` +
        "{ idempotencyKey: 'k-1' })",
    ],
    [
      'create-pet',
      {},
      `{"name":"${'x'.repeat(80)}","categoryId":1}`,
      `createPet({\n  name: '${'x'.repeat(80)}',\n  categoryId: 1n,\n})`,
    ],
  ])('JavaScript calls the client for %s with %j', (slug, parameters, text, call) => {
    const sample = SAMPLES.JavaScript(filledIn(operation(slug), { ...parameters }, text), go);
    expect(sample.endsWith(`console.log(await store.${call});`), sample).toBe(true);
  });

  test.each([
    ['a body that is not JSON', 'create-pet', '{"name":'],
    ['a body that is an array', 'create-pet', '[1]'],
    ['a body that is a number', 'create-pet', '7'],
    ['a body that is null', 'create-pet', 'null'],
    ['a fraction that JavaScript would round', 'create-pet', '{"categoryId":9007199254740993.0}'],
    ['an exponent that JavaScript would round', 'create-pet', '{"categoryId":9.007199254740993e15}'],
    ['a repeated member', 'create-pet', '{"categoryId":1,"categoryId":2}'],
    ['a missing id', 'get-pet', ''],
  ])('JavaScript uses fetch for %s', (_case, slug, text) => {
    const odd = filledIn(operation(slug), {}, text);
    expect(SAMPLES.JavaScript(odd, go)).toBe(SAMPLES.fetch(odd, go));
  });

  test.each(LANGUAGES)('of a change, a removal and changes in %s', async (language) => {
    const changing = readReference(openApiDocument(BASE_URL, { ...CHANGING }));
    const sampleOf = (slug: string, texts: Record<string, string>, text = '') => {
      const known = operation(slug, changing);
      const response = known.successes[0]?.content?.schema;
      return SAMPLES[language](filledIn(known, texts, text), { resolve: brief(changing), response });
    };
    const samples = [
      sampleOf('change-pet', { petId: '7', 'If-Match': '"tag"' }, '{"status":"sold"}'),
      sampleOf('remove-pet', { petId: '7' }),
      sampleOf('list-changes', { after: 'c-1' }),
    ];
    await expect(`${samples.join('\n\n')}\n`).toMatchFileSnapshot(`samples/${language}-changes.txt`);
  });

  test('call a method of the client for every operation', () => {
    for (const each of reference.operations) {
      const sample = SAMPLES.JavaScript(filledIn(each, { petId: '7' }, '{}'), go);
      expect(BasicStore.prototype).toHaveProperty(/ store\.(\w+)\(/.exec(sample)?.[1] ?? sample);
    }
  });
});

describe('the search', () => {
  const entries = [
    { title: 'Load', text: 'a refusal is 503 Overloaded', isSection: true },
    { title: '', text: 'the order is 413, 400', isSection: false },
    { title: 'payload_too_large 413', text: 'the body has more than 64 KiB', isSection: false },
    { title: '413 payload_too_large', text: '', isSection: false },
    { title: 'Too large', text: '', isSection: true },
    { title: '', text: 'Wait before each retry.', isSection: false },
    { title: 'Retry-After', text: 'how long to wait', isSection: false },
    { title: 'Safe retries', text: 'Safe retries', isSection: true },
    { title: 'Retry-After', text: 'how long to wait', isSection: false },
    { title: 'Which limits are there?', text: '', isSection: true },
    { title: 'limit', text: '1 to 100', isSection: false },
  ];

  test.each([
    ['updates', 'change-a-pet'],
    ['modify', 'change-a-pet'],
    ['edit a pet', 'change-a-pet'],
    ['pagination', 'how-do-i-read-all-pets'],
    ['paging', 'how-do-i-read-all-pets'],
    ['sort', 'how-do-i-read-all-pets'],
    ['optimistic concurrency', 'how-do-i-change-a-pet'],
    ['optimistic locking', 'how-do-i-change-a-pet'],
  ])('finds other words: %j', (query, slug) => {
    const changing = readReference(openApiDocument(BASE_URL, { ...CHANGING }));
    const sections = guide.split(/^## /m).map((text) => ({ title: text.split('\n')[0] as string, text }));
    const operations = changing.operations.map(({ slug, summary }) => ({ title: summary, text: slug }));
    const all = [...operations, ...sections].map((entry) => ({ ...entry, isSection: true }));
    expect(findEntries(all, wordsOf(query)).map(({ title }) => slugOf(title))).toContain(slug);
  });

  test.each([
    ['413', [3, 2, 1]],
    ['  413   LARGE ', [3, 2]],
    ['large', [4, 2, 3]],
    ['overloaded', [0]],
    ['413 kib', [2]],
    ['none', []],
    ['retry', [7, 6, 5]],
    ['Retries', [7, 6, 5]],
    ['retry-after', [6]],
    ['page size', [10, 9]],
    [' ', []],
  ])('finds %j in %j', (query, found) => {
    expect(findEntries(entries, wordsOf(query))).toEqual(found.map((index) => entries[index]));
  });

  const [x, y] = ['x'.repeat(138), 'y'.repeat(200)];

  test.each([
    [
      '413 or none',
      `${x} the Order is 413, or 400 ${y}`,
      `…${x.slice(0, 35)} the |[Or]|der is |[413]|, |[or]| 400 ${y.slice(0, 79)}…`,
    ],
    ['413 or', `or${x}413`, `[or]|${x}…`],
    ['or', `or${x}`, `[or]|${x}`],
    ['.', 'a.b', 'a|[.]|b'],
    ['retry', 'no retries ', 'no |[retries]'],
  ])('marks each match of %j in the text around the first one', (query, text, shown) => {
    const pieces = excerptOf(text, query.split(' '));
    expect(pieces.map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text)).join('|')).toBe(shown);
  });
});

test.each(LANGUAGES)('the highlighting of %s leaves the code unchanged', (language) => {
  const request = filledIn(operation('create-pet'), {}, '{"a":1}');
  const code = SAMPLES[language](request, { resolve: reference.resolve });
  const parts = highlight(code);
  expect(parts.map(({ text }) => text).join('')).toBe(code);
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.every(({ text }) => text)).toBe(true);
});

/** The guides are the sections of docs/api.md. */
describe('the guides', () => {
  test('the description has less than 3,000 characters, and each of its links leads to a section of docs/api.md', () => {
    const description = apiDescription();
    expect(description.length).toBeLessThan(3000);
    const fragments = [...description.matchAll(/\]\(docs#([^)]+)\)/g)].map(([, fragment]) => fragment);
    expect(fragments.length).toBeGreaterThan(5);
    for (const fragment of fragments) expect(headings.map(slugOf)).toContain(fragment);
  });

  test('each program that docs/api.md links to is on the server', () => {
    const linked = [...guide.matchAll(/\]\(\.\.\/examples\/([^)]+)\)/g)].map(([, program = '']) => program);
    expect([...new Set(linked)].toSorted()).toEqual(PROGRAMS.toSorted());
    for (const program of PROGRAMS)
      expect(existsSync(resolve(ROOT, 'examples', program)), program).toBe(true);
  });
});
