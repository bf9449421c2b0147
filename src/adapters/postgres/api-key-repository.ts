/** API keys in PostgreSQL. Found keys are cached for less than 1 s, because other processes must see a change within 1 s. */

import type { ApiKeyRepository } from '../../application/ports/api-key-repository.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { apiKeyOf, foundKey, hashOf, keyValues, rowIdOf } from '../storage-kit/key-rows.ts';
import type { Cached } from '../storage-kit/page-cache.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { assertEqualCounts } from './creates.ts';
import { RELAXED } from './pets.ts';
import { LOCK } from './schema.ts';

/** The times are selected as float8, which represents each of them exactly. */
const COLUMNS = `id::text, hash, name, hint, created_at::float8, expires_at::float8, revoked_at::float8,
  last_used_on::float8, caller_id::text, is_read_only`;
/** Adds a key for each row of `caller`. */
const ADDED = `added AS (
    INSERT INTO api_keys (hash, name, hint, created_at, expires_at, is_read_only, caller_id)
    SELECT $1, $2, $3, $4::bigint, $5, $6, caller_id FROM caller RETURNING ${COLUMNS}
  ) SELECT * FROM added WHERE ${assertEqualCounts('caller', 'added')}`;
const ADD = `WITH caller AS (SELECT NULL::bigint AS caller_id), ${ADDED}`;
const REPLACE = `WITH caller AS (
    UPDATE api_keys SET expires_at = least(expires_at, $7) WHERE id = $8 AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > $4) AND expires_at IS NOT DISTINCT FROM $9
    RETURNING coalesce(caller_id, id) AS caller_id
  ), ${ADDED}`;
const REVOKE = `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2 RETURNING ${COLUMNS}`;
/** The commit waits neither for the disk nor for a standby, because it does no harm if a crash loses the date of the last use. */
const SET_LAST_USED_ON = `WITH ${RELAXED} UPDATE api_keys SET last_used_on = $1 FROM relaxed
  WHERE id = $2 AND (last_used_on IS NULL OR last_used_on < $1) RETURNING ${COLUMNS}`;
const EXISTS = { text: 'SELECT 1 FROM api_keys LIMIT 1' };
const FIND = { name: 'find-key', text: `SELECT ${COLUMNS} FROM api_keys WHERE hash = $1` };
const LIST = `SELECT ${COLUMNS} FROM api_keys ORDER BY api_keys.id`;

const CACHE_MS = 900;
const CACHE_LIMIT = 1000;

export function apiKeyRepository(pool: ConnectionPool): Cached<ApiKeyRepository> {
  const statistics = { hits: 0, misses: 0 };
  let cache = new Map<string, { readonly about: ApiKey; readonly until: number }>();

  /** Runs a change, and then starts an empty cache: a `find` that is running can add an old row, but only to the old cache. */
  async function change(text: string, values: unknown[]): Promise<ApiKey | undefined> {
    try {
      const [row] = await pool.write(text, values);
      return row && apiKeyOf(row);
    } finally {
      cache = new Map();
    }
  }

  return {
    statistics,
    async find(key) {
      pool.assertOpen();
      const known = cache;
      const now = performance.now();
      const cached = known.get(key);
      if (cached !== undefined && now < cached.until) {
        statistics.hits += 1;
        return cached.about;
      }
      statistics.misses += 1;
      const hash = hashOf(key);
      const [row] = await pool.read({ ...FIND, values: [hash] });
      const about = foundKey(row, hash);
      if (about === undefined) return undefined;
      if (known.size >= CACHE_LIMIT) known.clear();
      known.set(key, { about, until: now + CACHE_MS });
      return about;
    },
    add: async (key, about) => (await change(ADD, keyValues(key, about))) as ApiKey,
    async addFirst(key, about, save) {
      // Looks for a key first, because a read-only database would refuse the statements below.
      if ((await pool.read(EXISTS)).length > 0) return undefined;
      using session = await pool.openSession();
      await session.begin();
      await session.run('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      if ((await session.run(EXISTS.text)).length > 0) return undefined;
      const [row] = await session.run(ADD, keyValues(key, about));
      await save?.();
      await session.run('COMMIT');
      return row && apiKeyOf(row);
    },
    replace: ({ id, expiresAt }, endsAt, key, about) =>
      change(REPLACE, [...keyValues(key, about), endsAt, rowIdOf(id), expiresAt ?? null]),
    revoke: (id, revokedAt) => change(REVOKE, [revokedAt, rowIdOf(id)]),
    setLastUsedOn: async (id, day) => void (await change(SET_LAST_USED_ON, [day, rowIdOf(id)])),
    list: async () => (await pool.read({ text: LIST })).map(apiKeyOf),
  };
}
