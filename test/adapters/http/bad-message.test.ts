/** Messages that Node.js does not parse: when their responses are sent, and who is notified. `recorded` has the responses. */

import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { ApiMiddleware } from '../../../src/adapters/http/state.ts';
import { nextTurn } from '../../../src/application/pause.ts';
import { Connection, sendLast, sendRaw } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { sharedServer, startServer, type TestServer } from '../../support/server.ts';
import { REX } from './paths.ts';

const LAST = { connection: 'close' };

const server = sharedServer('memory');
const headOf = (requestLine: string, { key }: TestServer = server) =>
  `${requestLine} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;

describe('a message that Node.js does not parse', () => {
  const GET = 'GET /livez HTTP/1.1\r\n';

  test('gets its response after those to earlier requests', async () => {
    const good = `${headOf('GET /v1/pets')}\r\n`;
    const create = `${headOf('POST /v1/pets')}Content-Length: ${REX.length}\r\n\r\n${REX}`;
    for (const [message, endsThere, statuses] of [
      [`${good}${good}\r\ngarbage\r\n\r\n`, false, [200, 200, 400]],
      [`${create}${create}${headOf('POST /v1/pets')}Content-Length: 100\r\n\r\n{`, true, [201, 201, 400]],
      [`${create}${headOf('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, false, [201, 400]],
      [
        `${create}${good}${create}GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        false,
        [201, 200, 201, 404],
      ],
    ] as const) {
      const connection = await Connection.open(server.origin, message);
      if (endsThere) connection.socket.end();
      expect((await connection.rest()).map(({ status }) => status)).toEqual(statuses);
    }
  });

  test('gets the response of the last request when it is its body, and none behind this request', async () => {
    const { origin, key, outcomes } = await startServer('memory', { corsOrigins: ['https://pets.example'] });
    const close = `Authorization: Bearer ${key}\r\nConnection: close\r\nX-Request-Id: mine\r\nOrigin: https://pets.example\r\n`;
    const headers = { 'x-request-id': 'mine', 'access-control-allow-origin': 'https://pets.example' };
    const broken = `${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    for (const [message, status] of [
      [`POST /v1/pets HTTP/1.1\r\nHost: x\r\n${broken}`, 400],
      [`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${close}\r\ngarbage`, 200],
    ] as const) {
      expect(await sendLast(origin, message)).toMatchObject([{ status, headers }]);
      expect(outcomes.splice(0)).toMatchObject([{ status, requestId: 'mine', aborted: undefined }]);
    }
  });

  test('is what a middleware gets that begins to read its body later', async () => {
    const read: ApiMiddleware = async ({ req }) => {
      await nextTurn();
      await buffer(req);
    };
    const { origin } = await startServer('memory', { middleware: { beforeKey: [read] } });
    const broken = `${headOf('POST /v1/pets')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
    const [{ status, body } = {}] = await sendLast(origin, broken);
    expect([status, body]).toEqual([400, expect.stringContaining('the message is not valid HTTP')]);
  });

  test('gets no second response if its key was refused while an earlier request was handled', async () => {
    const { wrap, open } = gate('list');
    const { origin, key, client } = await startServer('memory', { wrap });
    const connection = await Connection.open(origin);
    const fields = 'Host: x\r\nAuthorization: Bearer x\r\nTransfer-Encoding: chunked\r\n';
    connection.write(`${pipelineOf(key).get('/v1/pets')}GET /v1/pets HTTP/1.1\r\n${fields}\r\nzz\r\n`);
    expect((await client.get('/livez')).status).toBe(200);
    open();
    expect(await connection.rest()).toMatchObject([{ status: 200 }, { status: 401, headers: LAST }]);
  });

  test('gets a response as the body of a queued write, which is not executed', async () => {
    const { wrap, open } = gate('list');
    const { origin, key, client } = await startServer('memory', { wrap, ...CHANGING });
    const target = (await client.post(REX)).headers['location'] ?? '';
    const { get, write } = pipelineOf(key);
    const connection = await Connection.open(origin);
    const chunked = write('DELETE', target, '*').replace('Host: x', 'Host: x\r\nTransfer-Encoding: chunked');
    connection.write(`${get('/v1/pets')}${chunked}zz\r\n`);
    expect((await client.get('/livez')).status).toBe(200);
    open();
    expect(await connection.rest()).toMatchObject([{ status: 200 }, { status: 400, headers: LAST }]);
    expect((await client.get(target)).status).toBe(200);
  });

  test('gets no response as the body of a request that has its response', async () => {
    for (const start of ['', '1\r\nx\r\n']) {
      const connection = await Connection.open(server.origin);
      connection.write(`${headOf('GET /v1/pets')}Transfer-Encoding: chunked\r\n\r\n${start}`);
      expect((await connection.next()).status).toBe(200);
      connection.socket.write('zz\r\n');
      expect(await connection.rest()).toEqual([]);
      expect(connection.end).toBe('server');
    }
  });

  test('is reported to the observer once, with the request id of the response', async () => {
    const { origin, outcomes } = await startServer('memory');
    for (const message of [
      'garbage\r\n\r\n',
      `${GET}X: ${'x'.repeat(17_000)}\r\n\r\n`,
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const { status, headers } = await sendRaw(origin, message);
      const requestId = headers['x-request-id'];
      expect(outcomes.splice(0)).toMatchObject([{ method: '', status, requestId, address: '127.0.0.1' }]);
    }
  });
});
