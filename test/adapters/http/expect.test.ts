import { describe, expect, test } from 'vitest';
import { Connection, sendRaw } from '../../support/connection.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';

const REX = '{"name":"Rex","categoryId":1}';

describe.each(STORAGES)('Expect, on %s', (storage) => {
  const server = sharedServer(storage);
  const head = (fields: Record<string, string | number>) => {
    const all = { Host: 'x', 'Content-Type': 'application/json', 'Content-Length': REX.length, ...fields };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST /v1/pets HTTP/1.1\r\n${lines.join('')}\r\n`;
  };
  const authorization = () => ({ Authorization: `Bearer ${server.key}` });

  test.each(['100-continue', '100-Continue'])('%s gets its 100 before the body is sent', async (value) => {
    const connection = await Connection.open(server.origin);
    connection.write(head({ ...authorization(), Expect: value }));
    await new Promise((resolve) => connection.socket.once('received', resolve));
    connection.write(REX);
    expect((await connection.next()).status).toBe(201);
    expect(connection.interim).toEqual([100]);
    connection.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`);
    expect((await connection.next()).status).toBe(200);
    connection.destroy();
  });

  test.each([
    ['without a key', 401, {}],
    ['with another media type', 415, { 'Content-Type': 'text/plain' }],
    ['with a length over the limit', 413, { 'Content-Length': 70_000 }],
  ])('is refused without a 100 if the head is invalid: %s', async (_case, status, fields) => {
    const connection = await Connection.open(server.origin);
    const key = status === 401 ? {} : authorization();
    connection.write(head({ ...key, Expect: '100-continue', ...fields }));
    const answers = await connection.rest();
    expect(answers).toMatchObject([{ status, headers: { connection: 'close' } }]);
    expect(connection.interim).toEqual([]);
    connection.destroy();
  });

  test.each(['200-ok', '100-continue, x', 'x', '100', ''])(
    'with an unknown value is 400: %s',
    async (value) => {
      const answer = await sendRaw(server.origin, head({ ...authorization(), Expect: value }) + REX);
      expect(JSON.parse(answer.body)).toEqual({
        code: 'invalid_request',
        message: 'Expect must be 100-continue',
        status: 400,
      });
      const get = `GET /livez HTTP/1.1\r\nHost: x\r\nExpect: ${value}\r\n\r\n`;
      expect((await sendRaw(server.origin, get)).status).toBe(400);
    },
  );

  test('with an unknown value is checked after the key', async () => {
    expect((await sendRaw(server.origin, head({ Expect: 'x' }) + REX)).status).toBe(401);
  });
});
