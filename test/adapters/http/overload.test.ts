import { expect, onTestFinished, test, vi } from 'vitest';
import { TurnQueue } from '../../../src/adapters/http/api/load.ts';
import { startServer } from '../../support/server.ts';

function beTooBusy(): void {
  const queue = vi.spyOn(TurnQueue.prototype, 'enter').mockResolvedValue(true);
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
