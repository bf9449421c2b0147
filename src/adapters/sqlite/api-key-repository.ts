import type Database from 'better-sqlite3';
import type { ApiKeyRepository } from '../../application/ports/api-key-repository.ts';
import { untilAborted } from '../../application/until-aborted.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { apiKeyOf, foundKey, hashOf, keyValues, rowIdOf } from '../storage-kit/key-rows.ts';
import type { Cached } from '../storage-kit/page-cache.ts';
import { rowDropped } from '../storage-kit/store-errors.ts';
import { withOwnConnection } from './own-connection.ts';
import type { Reads } from './reads.ts';
import type { Writer } from './writer.ts';

const COLUMNS = `CAST(id AS TEXT), hash, name, hint, created_at, expires_at, revoked_at, last_used_on,
  CAST(caller_id AS TEXT), is_read_only`;
const INSERT = 'INSERT INTO api_keys (hash, name, hint, created_at, expires_at, is_read_only)';
const ADD = `${INSERT} VALUES (?, ?, ?, ?, ?, ?)`;
const ADD_FIRST = `${INSERT} SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM api_keys)`;
const ADD_SUCCESSOR = `INSERT INTO api_keys (hash, name, hint, created_at, expires_at, is_read_only, caller_id)
  SELECT ?, ?, ?, ?, ?, ?, coalesce(caller_id, id) FROM api_keys WHERE id = ?`;
const END = `UPDATE api_keys SET expires_at = min(coalesce(expires_at, ?), ?)
  WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AND expires_at IS ?`;
const REVOKE = 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL';
const SET_LAST_USED_ON =
  'UPDATE api_keys SET last_used_on = ? WHERE id = ? AND (last_used_on IS NULL OR last_used_on < ?)';

const CACHE_LIMIT = 1000;

/** After every write to the database file, by any process, the cache of found keys is cleared, so it is never out of date. */
export function apiKeyRepository(reads: Reads, writer: Writer): Cached<ApiKeyRepository> {
  const { db } = reads;
  const select = <T extends unknown[]>(where: string): Database.Statement<T, readonly unknown[]> =>
    // Times are read as numbers instead of bigints: a number represents each of them exactly.
    db.prepare<T, readonly unknown[]>(`SELECT ${COLUMNS} FROM api_keys ${where}`).safeIntegers(false).raw();
  const [byHash, byId] = [select<[Buffer]>('WHERE hash = ?'), select<[bigint]>('WHERE id = ?')];
  const all = select<[]>('ORDER BY api_keys.id');
  const read = (id: string) => reads.read(() => byId.all(rowIdOf(id)).map(apiKeyOf)[0]);
  const statistics = { hits: 0, misses: 0 };
  const cache = new Map<string, ApiKey>();
  let version: unknown;
  let lastFirst: Promise<unknown> = Promise.resolve();

  function find(key: string): ApiKey | undefined {
    if (reads.version !== version) cache.clear();
    version = reads.version;
    const cached = cache.get(key);
    statistics[cached === undefined ? 'misses' : 'hits'] += 1;
    if (cached !== undefined) return cached;
    const hash = hashOf(key);
    const about = foundKey(byHash.get(hash), hash);
    if (about === undefined) return undefined;
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(key, about);
    return about;
  }

  return {
    statistics,
    find: (key) => reads.read(() => find(key)),
    async add(key, about) {
      const { rowId, changes } = await writer.storeWrite([ADD, ...keyValues(key, about)]);
      if (changes === 0) throw rowDropped();
      return added(rowId, about);
    },
    addFirst(key, about, save) {
      const add = async (): Promise<ApiKey | undefined> => {
        if ((await reads.read(() => all.get())) !== undefined) return undefined;
        return await withOwnConnection(writer, async (connection) => {
          await connection.begin();
          const [row] = await connection.run<Database.RunResult>(ADD_FIRST, keyValues(key, about));
          if (row === undefined || row.changes === 0) return undefined;
          await untilAborted(Promise.resolve(save?.()), reads.closing);
          await connection.commit(1);
          return added(BigInt(row.lastInsertRowid), about);
        });
      };
      // One call at a time: each starts a thread, so simultaneous calls would start many.
      const adding = lastFirst.then(add, add);
      lastFirst = adding;
      return adding;
    },
    async replace({ id, expiresAt, callerId = id }, endsAt, key, about) {
      const { rowId, changes } = await writer.storeWrite(
        [END, endsAt, endsAt, rowIdOf(id), about.createdAt, expiresAt ?? null],
        [ADD_SUCCESSOR, ...keyValues(key, about), rowIdOf(id)],
      );
      return changes === 0 ? undefined : added(rowId, { ...about, callerId });
    },
    async revoke(id, revokedAt) {
      // The key is read first, because an error of a read after the commit would hide that the key is revoked.
      const key = await read(id);
      if (key === undefined || key.revokedAt !== undefined) return key;
      const { changes } = await writer.storeWrite([REVOKE, revokedAt, rowIdOf(id)]);
      return changes === 0 ? await read(id) : Object.freeze({ ...key, revokedAt });
    },
    async setLastUsedOn(id, day) {
      await writer.storeWrite([SET_LAST_USED_ON, day, rowIdOf(id), day]);
    },
    list: () => reads.read(() => all.all().map(apiKeyOf)),
  };
}

function added(rowId: bigint, about: Omit<ApiKey, 'id'>): ApiKey {
  return Object.freeze({ id: String(rowId), ...about });
}
