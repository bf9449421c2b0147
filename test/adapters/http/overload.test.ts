import { expect, onTestFinished, test, vi } from 'vitest';
import type { RequestOutcome } from '../../../src/adapters/http/api/observe.ts';
import { newSharedLimits } from '../../../src/adapters/http/api/shared-limits.ts';
import { TurnQueue } from '../../../src/adapters/http/api/turn-queue.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { startServer } from '../../support/server.ts';

const BODY = '{"name":"Rex","categoryId":1}';

function beTooBusy(): void {
  const queue = vi.spyOn(TurnQueue.prototype, 'waitingTime', 'get').mockReturnValue(1000);
  onTestFinished(() => queue.mockRestore());
}

test('while requests wait for too long, only health checks are served, and 401 comes before 503', async () => {
  const { client } = await startServer('memory');
  beTooBusy();
  const statusOf = async (path: string, key?: null) =>
    (await client.request('GET', path, { ...(key === null && { key }), headers: { Connection: 'close' } }))
      .status;
  expect(await statusOf('/v1/pets')).toBe(503);
  expect(await statusOf('/v1/nothing')).toBe(503);
  expect(await statusOf('/openapi.json')).toBe(503);
  expect(await statusOf('/v1/pets', null)).toBe(401);
  expect(await statusOf('/livez')).toBe(200);
  expect(await statusOf('/readyz?verbose')).toBe(200);
});

/** A thousand servers share the limits of 2,000 creates in progress. */
const THREAD = { index: 0, count: 1000, memory: newSharedLimits(1000) };

test('while too many creates are in progress, one is refused before its body is read, and reads are served', async () => {
  const outcomes: RequestOutcome[] = [];
  const { wrap, open, waiting } = gate();
  const { client, key, origin, errors } = await startServer('memory', {
    observers: [{ onRequest: (outcome) => outcomes.push(outcome) }],
    thread: THREAD,
    wrap,
  });
  const creates = [client.post(BODY), client.post(BODY)];
  await expect.poll(waiting).toBe(2);
  const refused = await Connection.open(origin);
  const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  refused.write(`POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: 1000\r\n\r\n`);
  const answer = await refused.next();
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(answer.body)).toMatchObject({
    code: 'overloaded',
    message: 'too many pets are being stored',
  });
  refused.destroy();
  expect(outcomes.at(-1)).toMatchObject({ method: 'POST', status: 503, keyId: expect.any(String) });
  const unauthorized = await client.request('POST', '/v1/pets', { key: 'pets_wrong', body: BODY });
  expect(unauthorized.status).toBe(401);
  expect(errors).toMatchObject([{ code: 'overloaded' }]);
  expect((await client.get('/v1/pets')).status).toBe(200);
  expect((await client.get('/readyz')).status).toBe(200);
  open();
  expect((await Promise.all(creates)).map(({ status }) => status)).toEqual([201, 201]);
  expect((await client.post('{"name":"","categoryId":1}')).status).toBe(400);
  for (let count = 0; count < 3; count += 1) expect((await client.post(BODY)).status).toBe(201);
});
