/** The start of several servers on one store. `crash.faults.ts` has their idempotency keys, `changes.faults.ts` their order. */

import { describe, expect, test } from 'vitest';
import { startFaultsServer } from './server.ts';
import { STORES } from './stores.ts';

describe.each(STORES)('ten servers that start at once on $name', ({ newUrl, canRun }) => {
  test.skipIf(!canRun)('all serve, and one prints the first key', async () => {
    const env = { API_KEYS: '', FIRST_KEY: 'print', DATABASE_URL: await newUrl() };
    const servers = await Promise.all(Array.from({ length: 10 }, () => startFaultsServer({ env })));
    const printed = servers.flatMap(({ out }) => [...new Set(out.stdout.match(/\bpets_\w{49}\b/g))]);
    expect(printed).toHaveLength(1);
    for (const server of servers) {
      const { status } = await server.client.request('GET', '/v1/pets', { key: printed[0] ?? '' });
      expect(status).toBe(200);
      expect(await server.stop()).toEqual({ code: 0, signal: null });
    }
  });
});
