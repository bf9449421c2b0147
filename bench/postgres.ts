/** Runs a PostgreSQL server for the benchmark, with the same pets as the SQLite files, on the core of the load. */

import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { prepareSchema } from '../src/adapters/postgres/schema.ts';
import { apiKeyPrefix } from '../src/domain/api-key.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres/server.ts';
import { API_KEY, type Data } from './data.ts';
import { EXACT } from './peers/postgres-store.ts';

/**
 * The server keeps all pets in memory, and writes no checkpoint and vacuums no table during a measurement: both would
 * disturb single rounds. Each commit waits for its fsync.
 */
const SETTINGS = {
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  max_connections: '50',
};

/** Inserts the same pets as the statement for SQLite in `data.ts`. */
const FILL = `
  INSERT INTO pets (name, category_id, status)
  WITH RECURSIVE random (n, x) AS (
    SELECT 1, 42::bigint
    UNION ALL SELECT n + 1, (x * 1103515245 + 12345) & 2147483647 FROM random WHERE n < $1::bigint
  )
  SELECT
    'Bello ' || (x >> 8),
    CASE WHEN (x >> 5) % 10 = 0 THEN 9007199254740993 + x ELSE 1 + (x >> 12) % 1000 END,
    CASE WHEN (x >> 16) % 10 < 6 THEN 'available' WHEN (x >> 16) % 10 < 9 THEN 'pending' ELSE 'sold' END
  FROM random`;

const ADD_KEY = 'INSERT INTO api_keys (hash, name, hint, created_at) VALUES ($1, $2, $3, $4)';

export function isPostgres(source: string): boolean {
  return source.startsWith('postgres:');
}

/** Calls `use` with a running server that has `pets` pets. `settings` have precedence over {@link SETTINGS}. */
export async function withPostgres<T>(
  pets: number,
  use: (server: PostgresServer) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const server = await startPostgres({ ...SETTINGS, ...settings });
  try {
    await fill(server.url, pets);
    return await use(server);
  } finally {
    await server.close();
  }
}

/** Restarts a server with other environment variables. */
export async function restart(server: PostgresServer, environment: Record<string, string>): Promise<void> {
  await server.stop('fast');
  await server.start(environment);
}

/** Returns the data of a database. Each query has a connection of its own, so that none is open during the load. */
export function postgresData(url: string): Data {
  return {
    url,
    query: async (sql) => {
      const client = new Client({ connectionString: url, types: EXACT });
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

async function fill(url: string, pets: number): Promise<void> {
  await prepareSchema({ connectionString: url }, false);
  const client = new Client({ connectionString: url });
  await client.connect();
  const hash = createHash('sha256').update(API_KEY).digest();
  await client.query(ADD_KEY, [hash, 'bench', apiKeyPrefix(API_KEY), Date.now()]);
  await client.query(FILL, [pets]);
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  await client.end();
}
