/** The log of a server on which many requests fail. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { flood, linesOf, serve } from '../support/log-streams.ts';
import { stopService, temporaryFolder } from '../support/process.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';

const noMount = canMount ? '' : ' (skipped: this user may not mount a file system)';

describe('a flood of requests without a key holder', { timeout: 60_000 }, () => {
  test('is limited in the log, which still contains successful requests and the number of suppressed lines', async () => {
    const log = join(temporaryFolder(), 'log');
    const service = await serve({ stderr: log });
    const startedAt = performance.now();
    const [, , good] = await Promise.all([
      flood(service.origin, 10_000, 401, ''),
      flood(service.origin, 10_000, 401, 'Authorization: Bearer wrong\r\n'),
      service.client.get('/v1/pets', { 'X-Request-Id': 'good' }),
    ]);
    expect(good.status).toBe(200);
    await stopService(service);
    const seconds = Math.ceil((performance.now() - startedAt) / 1000) + 1;
    const lines = linesOf(readFileSync(log, 'utf8'));
    const failed = lines.filter(({ status }) => status === 401);
    const summaries = lines.filter(({ suppressed }) => suppressed !== undefined);
    const suppressed = summaries.reduce((sum, line) => sum + (line['suppressed'] as number), 0);
    expect(failed.length).toBeGreaterThanOrEqual(100);
    expect(failed.length).toBeLessThanOrEqual(100 * seconds);
    expect(summaries.length).toBeLessThanOrEqual(seconds);
    expect(summaries[0]).toMatchObject({
      level: 40,
      msg: 'failed requests without a key holder were not logged',
    });
    expect(failed.length + suppressed).toBe(20_000);
    expect(lines.filter(({ requestId }) => requestId === 'good')).toHaveLength(1);
  });
});

describe('a full disk', { timeout: 60_000 }, () => {
  test.skipIf(!canMount)(
    `causes one stack trace per second in the log, not one per create${noMount}`,
    async () => {
      const { folder } = new SmallDisk('1m');
      const log = join(temporaryFolder(), 'log');
      const service = await serve({ stderr: log }, { DATABASE_URL: `sqlite:${folder}/pets.db` });
      const pet = { name: 'x'.repeat(255), categoryId: 1 };
      while ((await service.client.post(pet)).status === 201);
      const startedAt = performance.now();
      let refused = 0;
      for (let count = 0; count < 20; count += 1) {
        const responses = await Promise.all(Array.from({ length: 50 }, () => service.client.post(pet)));
        refused += responses.filter(({ status }) => status === 503).length;
      }
      await stopService(service);
      const seconds = Math.ceil((performance.now() - startedAt) / 1000) + 1;
      expect(refused).toBeGreaterThan(500);
      const lines = linesOf(readFileSync(log, 'utf8'));
      const traces = lines.filter(({ err }) => err !== undefined);
      const suppressed = lines.reduce((sum, line) => sum + Number(line['suppressed'] ?? 0), 0);
      const kinds = new Set(lines.map(({ kind }) => kind).filter((kind) => kind !== undefined));
      expect(traces.length).toBeLessThanOrEqual(seconds * Math.max(1, kinds.size));
      expect(traces[0]).toMatchObject({ level: 50, msg: 'request failed', requestId: expect.any(String) });
      expect(lines.filter(({ status }) => status === 503)).toHaveLength(traces.length + suppressed);
    },
  );
});
