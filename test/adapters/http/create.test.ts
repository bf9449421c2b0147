import { describe, expect, test } from 'vitest';
import { STORAGES, sharedServer } from '../../support/server.ts';

const PAW = '\u{1F43E}';
const ID = /"id":(\d+)/;

describe.each(STORAGES)('POST /v1/pets, on %s', (storage) => {
  const server = sharedServer(storage);
  const create = (members: string) => server.client.post(`{"name":"Rex",${members}}`);
  const createNamed = (name: string) => server.client.post({ name, categoryId: 1 });

  test('responds 201 with the pet and its location', async () => {
    const answer = await server.client.post({ name: 'Rex', categoryId: 7, status: 'pending' });
    const pet = JSON.parse(answer.body);
    expect(answer.status).toBe(201);
    expect(pet).toEqual({ id: expect.any(Number), name: 'Rex', categoryId: 7, status: 'pending' });
    expect(answer.headers['location']).toBe(`/v1/pets/${pet.id}`);
    expect((await server.client.get(`/v1/pets/${pet.id}`)).body).toBe(answer.body);
  });

  test('stores and returns the status available if the status is left out', async () => {
    const { id, status } = JSON.parse((await create('"categoryId":1')).body);
    expect(status).toBe('available');
    expect(JSON.parse((await server.client.get(`/v1/pets/${id}`)).body)).toHaveProperty(
      'status',
      'available',
    );
  });

  test.each(['available', 'pending', 'sold'])('accepts the status %s', async (status) => {
    const answer = await server.client.post({ name: 'Rex', categoryId: 1, status });
    expect(JSON.parse(answer.body)).toHaveProperty('status', status);
  });

  test.each(['""', '"Sold"', '"gone"', 'null', '1', 'true', '[]', '["sold"]', '{}', '"sold "'])(
    'refuses the status %s',
    async (status) => {
      const answer = await create(`"categoryId":1,"status":${status}`);
      expect(answer.status).toBe(400);
      expect(answer.body).toContain('status must be one of available, pending, sold');
    },
  );

  test.each([
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['9007199254740991', '9007199254740991'],
    ['1234567890123456789', '1234567890123456789'],
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0e999999999', '0'],
    ['5', '5'],
    ['5.0', '5'],
    ['5e0', '5'],
    ['50e-1', '5'],
    ['5E+0', '5'],
    ['0.5e1', '5'],
    ['5.000000000000000000000000', '5'],
    ['922337203685477580.7e1', '9223372036854775807'],
    ['9223372036854775807000e-3', '9223372036854775807'],
    ['1e18', '1000000000000000000'],
  ])('accepts the categoryId %s as exactly %s', async (sent, stored) => {
    const answer = await create(`"categoryId":${sent}`);
    expect(answer.status).toBe(201);
    expect(answer.body).toContain(`"categoryId":${stored},`);
    const id = ID.exec(answer.body)?.[1];
    expect((await server.client.get(`/v1/pets/${id}`)).body).toBe(answer.body);
    expect((await server.client.get(`/v1/pets?limit=1&after=${Number(id) - 1}`)).body).toBe(
      `[${answer.body}]`,
    );
  });

  test.each([
    '9223372036854775808',
    '-9223372036854775809',
    '99999999999999999999999999',
    '1.5',
    '-0.1',
    '1e400',
    '-1e400',
    '1e19',
    '1e-400',
    '1e-1',
    '100000000000000.001',
    '9007199254740993.5',
    '0.99999999999999999999',
    '1e999999999999999999',
    '1e-999999999999999999',
    '"1"',
    '""',
    'null',
    'true',
    'false',
    '[]',
    '[1]',
    '{}',
  ])('refuses the categoryId %s', async (value) => {
    const answer = await create(`"categoryId":${value}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(
      'categoryId must be an integer from -9223372036854775808 to 9223372036854775807',
    );
  });

  test.each(['01', '+1', '1.', '.5', '0x10', 'NaN', 'Infinity', '1_000', '1n', '- 1'])(
    'refuses the categoryId %s, which is not JSON',
    async (value) => {
      const answer = await create(`"categoryId":${value}`);
      expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('not valid JSON') });
    },
  );

  test.each([
    ['one character', 'R'],
    ['255 characters', 'x'.repeat(255)],
    ['255 astral code points', PAW.repeat(255)],
    ['spaces at its ends', '  Rex  '],
    ['only spaces', '   '],
    ['a newline and a tab', 'Rex\n\tthe first'],
    ['control characters', '\u0001\u001f\u007f\u0080'],
    ['combining marks, not normalised', 'e\u0301 \u00e9'],
    ['a family of emoji', '\u{1F468}\u200d\u{1F469}\u200d\u{1F467}'],
    ['text from right to left', '\u0643\u0644\u0628'],
    ['quotes and backslashes', '"\\/\b'],
    ['line separators', '\u2028\u2029'],
    ['a byte order mark', '\ufeffRex'],
    ['noncharacters', '\ufffe\uffff\ufffd'],
    ['SQL', "'); DROP TABLE pets; --"],
  ])('stores a name unchanged: %s', async (_case, name) => {
    const answer = await createNamed(name);
    expect(answer.status).toBe(201);
    const { id, ...pet } = JSON.parse(answer.body);
    expect(pet).toEqual({ name, categoryId: 1, status: 'available' });
    expect((await server.client.get(`/v1/pets/${id}`)).body).toBe(answer.body);
  });

  test.each([
    ['empty', '""'],
    ['256 characters', JSON.stringify('x'.repeat(256))],
    ['256 astral code points', JSON.stringify(PAW.repeat(256))],
    ['a lone high surrogate', '"Rex \\ud83d"'],
    ['a lone low surrogate', '"\\udc3e Rex"'],
    ['a low surrogate before a high surrogate', '"\\udc3e\\ud83d"'],
    ['U+0000', '"Rex\\u0000"'],
    ['null', 'null'],
    ['a number', '1'],
    ['a boolean', 'true'],
    ['an array', '["Rex"]'],
    ['an object', '{"toString":"Rex"}'],
  ])('refuses a name that is %s', async (_case, name) => {
    const answer = await server.client.post(`{"categoryId":1,"name":${name}}`);
    expect(answer).toMatchObject({ status: 400, body: expect.stringMatching(/"message":"name must /) });
  });

  test.each([
    ['name', '{"categoryId":1}', 'name is required'],
    ['categoryId', '{"name":"Rex"}', 'categoryId is required'],
    ['name and categoryId', '{}', 'name is required; categoryId is required'],
    ['everything but a valid status', '{"status":"sold"}', 'name is required; categoryId is required'],
  ])('reports what is missing: %s', async (_case, body, message) => {
    const answer = await server.client.post(body);
    expect(JSON.parse(answer.body)).toEqual({ code: 'invalid_request', message, status: 400 });
  });

  test.each([
    ['{"name":"","categoryId":"x"}', ['name must have 1 to 255 characters', 'categoryId must be an integer']],
    ['{"name":"a\\u0000","status":"x"}', ['U+0000', 'categoryId is required', 'status must be one of']],
    ['{"name":"\\ud800","categoryId":1,"status":"x"}', ['well-formed', 'status must be one of']],
    ['{"name":1,"categoryId":"x"}', ['name must be a string', 'categoryId must be an integer']],
  ])('reports every fault of %s once', async (body, faults) => {
    const { status, body: text } = await server.client.post(body);
    expect(status).toBe(400);
    const messages = (JSON.parse(text).message as string).split('; ');
    expect(messages).toHaveLength(faults.length);
    for (const [index, fault] of faults.entries()) expect(messages[index]).toContain(fault);
  });

  test('reports every rule that is broken', async () => {
    const answer = await server.client.post({ name: 1, categoryId: 'x', status: 'x' });
    for (const word of ['name must', 'categoryId must', 'status must']) expect(answer.body).toContain(word);
  });

  test.each(['null', '[]', '"Rex"', '1', 'true', '[{"name":"Rex","categoryId":1}]'])(
    'refuses a body that is not an object: %s',
    async (body) => {
      const answer = await server.client.post(body);
      expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('must be a JSON object') });
    },
  );

  test('ignores undefined members, including id', async () => {
    const answer = await create(
      '"categoryId":1,"id":1000000,"tag":{"a":[1.5,null]},"constructor":1,"toString":2',
    );
    const { id, ...pet } = JSON.parse(answer.body);
    expect(answer.status).toBe(201);
    expect(pet).toEqual({ name: 'Rex', categoryId: 1, status: 'available' });
    expect(id).toBeLessThan(1_000_000);
  });

  test('treats a member called __proto__ like any other member', async () => {
    const answer = await create('"categoryId":1,"__proto__":{"status":"sold"}');
    expect(JSON.parse(answer.body)).toHaveProperty('status', 'available');
    const inherited = await server.client.post('{"__proto__":{"name":"Rex","categoryId":1}}');
    expect(inherited.status).toBe(400);
    expect({}).not.toHaveProperty('status');
  });

  test('uses the last value of a member that is given twice', async () => {
    const answer = await create('"categoryId":1,"categoryId":9007199254740993');
    expect(answer.body).toContain('"categoryId":9007199254740993');
    expect((await create('"categoryId":1,"categoryId":"x"')).status).toBe(400);
  });

  test('assigns ascending ids, also to concurrent creates', async () => {
    const first = await createNamed('first');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => createNamed(`racer ${index}`)),
    );
    const ids = answers.map(({ body }) => JSON.parse(body).id);
    expect(new Set(ids).size).toBe(50);
    expect(Math.min(...ids)).toBeGreaterThan(JSON.parse(first.body).id);
    const last = await createNamed('last');
    expect(JSON.parse(last.body).id).toBeGreaterThan(Math.max(...ids));
  });

  test('ignores a query', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const body = '{"name":"Rex","categoryId":1}';
    const answer = await server.client.request('POST', '/v1/pets?limit=0&status=gone', { headers, body });
    expect(answer.status).toBe(201);
  });
});
