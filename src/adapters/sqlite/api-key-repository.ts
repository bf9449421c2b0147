import { createHash, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { ApiKeyRepository, SaveKey } from '../../application/ports/api-key-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';
import { INT64_MAX, parseInt64 } from '../../domain/int64.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import { withOwnConnection } from './write/own-connection.ts';
import type { Writer } from './write/writer.ts';

const COLUMNS = `CAST(id AS TEXT) AS id, hash, name, hint AS prefix, created_at AS createdAt, expires_at AS expiresAt,
  revoked_at AS revokedAt, last_used_on AS lastUsedOn, CAST(caller_id AS TEXT) AS callerId, is_read_only AS isReadOnly`;
const INSERT = 'INSERT INTO api_keys (hash, name, hint, created_at, expires_at, is_read_only)';
const ADD = `${INSERT} VALUES (?, ?, ?, ?, ?, ?)`;
const ADD_FIRST = `${INSERT} SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM api_keys)`;
const ADD_SUCCESSOR = `INSERT INTO api_keys (hash, name, hint, created_at, expires_at, is_read_only, caller_id)
  SELECT ?, ?, ?, ?, ?, ?, coalesce(caller_id, id) FROM api_keys WHERE id = ?`;
const END = `UPDATE api_keys SET expires_at = min(coalesce(expires_at, ?), ?)
  WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AND expires_at IS ?`;
const REVOKE = 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL';
const SET_LAST_USED_ON =
  'UPDATE api_keys SET last_used_on = ? WHERE id = ? AND (last_used_on IS NULL OR last_used_on < ? OR last_used_on > ?)';
const FIND_BY_HASH = `SELECT ${COLUMNS} FROM api_keys WHERE hash = ?`;
const FIND = `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`;
const LIST = `SELECT ${COLUMNS} FROM api_keys ORDER BY api_keys.id`;

const CACHE_LIMIT = 1000;

interface Row extends Pick<ApiKey, 'id' | 'name' | 'prefix' | 'createdAt'> {
  readonly hash: Buffer;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedOn: number | null;
  readonly callerId: string | null;
  readonly isReadOnly: number;
}

/** Every write to the database file, by any process, clears the cache of found keys, so none is out of date. */
export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;
  readonly #findByHash: Database.Statement<[Buffer], Row>;
  readonly #find: Database.Statement<[bigint], Row>;
  readonly #list: Database.Statement<[], Row>;
  readonly #found = new Map<string, ApiKey>();
  #version: unknown;
  #hits = 0;
  #misses = 0;

  constructor(db: Database.Database, snapshot: ReadSnapshot, writer: Writer) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    // A double represents every time exactly.
    this.#findByHash = db.prepare<[Buffer], Row>(FIND_BY_HASH).safeIntegers(false);
    this.#find = db.prepare<[bigint], Row>(FIND).safeIntegers(false);
    this.#list = db.prepare<[], Row>(LIST).safeIntegers(false);
  }

  get cacheStatistics(): CacheStatistics {
    return { hits: this.#hits, misses: this.#misses };
  }

  async find(key: string): Promise<ApiKey | undefined> {
    const cached = this.#cached(key);
    if (cached !== undefined) {
      this.#hits += 1;
      return cached;
    }
    return await this.#snapshot.read(() => this.#cached(key) ?? this.#lookUp(key));
  }

  async add(key: string, about: NewApiKey): Promise<ApiKey> {
    const { rowId } = await this.#writer.storeWrite([ADD, ...valuesOf(key, about)]);
    return added(rowId, about);
  }

  async addFirst(key: string, about: NewApiKey, save?: SaveKey): Promise<ApiKey | undefined> {
    return await withOwnConnection(this.#writer, async (connection) => {
      await connection.begin();
      const { lastInsertRowid, changes } = connection.db.prepare(ADD_FIRST).run(...valuesOf(key, about));
      if (changes === 0) return undefined;
      await save?.();
      connection.commit(1);
      return added(BigInt(lastInsertRowid), about);
    });
  }

  async replace(
    { id, expiresAt }: Pick<ApiKey, 'id' | 'expiresAt'>,
    endsAt: number,
    key: string,
    about: NewApiKey,
  ): Promise<ApiKey | undefined> {
    const { rowId, changes } = await this.#writer.storeWrite(
      [END, endsAt, endsAt, rowIdOf(id), about.createdAt, expiresAt ?? null],
      [ADD_SUCCESSOR, ...valuesOf(key, about), rowIdOf(id)],
    );
    return changes === 0 ? undefined : this.#read(rowId);
  }

  async revoke(id: string, revokedAt: number): Promise<ApiKey | undefined> {
    await this.#writer.storeWrite([REVOKE, revokedAt, rowIdOf(id)]);
    return this.#read(rowIdOf(id));
  }

  async setLastUsedOn(id: string, day: number, latest: number = Infinity): Promise<void> {
    await this.#writer.storeWrite([SET_LAST_USED_ON, day, rowIdOf(id), day, latest]);
  }

  list(): Promise<readonly ApiKey[]> {
    return this.#snapshot.read(() => this.#list.all().map(apiKeyOf));
  }

  #read(rowId: bigint): Promise<ApiKey | undefined> {
    return this.#snapshot.read(() => {
      const row = this.#find.get(rowId);
      return row && apiKeyOf(row);
    });
  }

  #cached(key: string): ApiKey | undefined {
    const version = this.#snapshot.enter();
    if (version !== this.#version) {
      this.#version = version;
      this.#found.clear();
    }
    return this.#found.get(key);
  }

  /** The time to compare the hashes does not depend on the position of the first different byte. */
  #lookUp(key: string): ApiKey | undefined {
    this.#misses += 1;
    const hash = sha256(key);
    const row = this.#findByHash.get(hash);
    if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
    const about = apiKeyOf(row);
    if (this.#found.size >= CACHE_LIMIT) this.#found.clear();
    this.#found.set(key, about);
    return about;
  }
}

function valuesOf(key: string, { name, prefix, createdAt, expiresAt, isReadOnly = false }: NewApiKey) {
  return [sha256(key), name, prefix, createdAt, expiresAt ?? null, Number(isReadOnly)] as const;
}

function added(rowId: bigint, about: NewApiKey): ApiKey {
  return Object.freeze({ id: String(rowId), ...about });
}

/** No row has the row id of an id that is not an int64. */
function rowIdOf(id: string): bigint {
  return parseInt64(id) ?? -INT64_MAX;
}

function apiKeyOf(row: Row): ApiKey {
  const { id, name, prefix, createdAt, expiresAt, revokedAt, lastUsedOn, callerId, isReadOnly } = row;
  return Object.freeze({
    id,
    name,
    prefix,
    createdAt,
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    lastUsedOn: lastUsedOn ?? undefined,
    callerId: callerId ?? undefined,
    isReadOnly: isReadOnly === 1,
  });
}

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
