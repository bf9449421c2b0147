/**
 * Objects of a completed request that are still reachable, such as from a `Map` that grows and shrinks with each request, are
 * promoted to the old generation, and keep later garbage alive until the next major collection.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  canStartPostgres,
  type PostgresServer,
  startPostgres,
  startPostgresNote,
} from '../support/postgres/index.ts';
import { RUNTIME } from '../support/process.ts';
import { openClient } from './client/open-client.ts';
import { FaultsServer, newFolder } from './server.ts';

const PRELOADED = join(import.meta.dirname, 'garbage', 'promotions.ts');

const CLIENTS = 8;
const CREATES = 100;
const REQUESTS = 800;

/** The average of one request. A request allocates about 15,000 bytes. */
const PROMOTED_BYTES = 100;

async function promotedBytes(env: Readonly<Record<string, string>>): Promise<number> {
  const file = join(newFolder(), 'promoted');
  const server = await FaultsServer.start({
    env: { ...env, NODE_OPTIONS: `--import=${PRELOADED}`, PROMOTIONS_FILE: file },
  });
  const client = openClient(server);
  const many = async (count: number, request: (index: number) => Promise<unknown>) => {
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (let index = 0; index < count; index++) await request(index);
      }),
    );
  };
  const create = () => client.post({ name: 'Rex', categoryId: 7 });
  const mix = (count: number) =>
    many(count, (index) => {
      if (index % 10 === 0) return create();
      return client.get(index % 2 === 0 ? '/v1/pets' : `/v1/pets/${1 + (index % CREATES)}`);
    });
  await many(CREATES, create);
  await mix(REQUESTS / 5);
  process.kill(server.pid, 'SIGUSR2');
  await mix(REQUESTS);
  process.kill(server.pid, 'SIGUSR2');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^-?\d+$/);
  await server.stop();
  return Number(readFileSync(file, 'utf8')) / (CLIENTS * REQUESTS);
}

describe.skipIf(RUNTIME !== process.execPath)('what a request allocates dies with its response', () => {
  test('on SQLite', async () => {
    expect(await promotedBytes({})).toBeLessThan(PROMOTED_BYTES);
  });

  test.skipIf(!canStartPostgres)(`on PostgreSQL${startPostgresNote}`, async () => {
    const postgres: PostgresServer = await startPostgres();
    try {
      expect(await promotedBytes({ DATABASE_URL: postgres.url })).toBeLessThan(PROMOTED_BYTES);
    } finally {
      await postgres.close();
    }
  });
});
