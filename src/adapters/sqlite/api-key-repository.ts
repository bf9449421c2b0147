import { createHash, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { ApiKeyHolder, ApiKeyRepository } from '../../application/ports.ts';
import { type ApiKey, isActive, isApiKey, type NewApiKey } from '../../domain/api-key.ts';
import { INT64_MAX, parseInt64 } from '../../domain/int64.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import type { Writer } from './writer.ts';

const COLUMNS = 'id, hash, name, hint, created_at, expires_at, revoked_at, last_used_on';
const INSERT = 'INSERT INTO api_keys (hash, name, hint, created_at, expires_at)';
const ADD = `${INSERT} VALUES (?, ?, ?, ?, ?)`;
const ADD_FIRST = `${INSERT} SELECT ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM api_keys)`;
const ADD_IF_CHANGED = `${INSERT} SELECT ?, ?, ?, ?, ? WHERE changes() > 0`;
const END = `UPDATE api_keys SET expires_at = min(coalesce(expires_at, ?), ?)
  WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`;
const REVOKE = 'UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?';
const USED = 'UPDATE api_keys SET last_used_on = ? WHERE id = ?';
const FIND_BY_HASH = `SELECT ${COLUMNS} FROM api_keys WHERE hash = ?`;
const FIND = `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`;
const LIST = `SELECT ${COLUMNS} FROM api_keys ORDER BY id`;

const DAY = 24 * 60 * 60 * 1000;

/** The largest number of cached keys; every one of them has the length of a key that this store issues. */
const CACHED_KEYS_LIMIT = 1000;

interface Row {
  readonly id: bigint;
  readonly hash: Buffer;
  readonly name: string;
  readonly hint: string;
  readonly created_at: bigint;
  readonly expires_at: bigint | null;
  readonly revoked_at: bigint | null;
  readonly last_used_on: bigint | null;
}

/** Keys are looked up by their hash. A good one is kept until anybody has written to the file, so a revocation is seen at once. */
export class SqliteApiKeyRepository implements ApiKeyRepository {
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;
  readonly #findByHash: Database.Statement<[Buffer], Row>;
  readonly #find: Database.Statement<[bigint], Row>;
  readonly #list: Database.Statement<[], Row>;
  readonly #good = new Map<string, ApiKey>();
  readonly #usedOn = new Map<string, number>();
  #version: unknown;

  constructor(db: Database.Database, snapshot: ReadSnapshot, writer: Writer) {
    this.#snapshot = snapshot;
    this.#writer = writer;
    this.#findByHash = db.prepare(FIND_BY_HASH);
    this.#find = db.prepare(FIND);
    this.#list = db.prepare(LIST);
  }

  async verify(key: string): Promise<ApiKeyHolder | undefined> {
    try {
      const version = this.#snapshot.enter();
      if (version !== this.#version) {
        this.#version = version;
        this.#good.clear();
      }
      const about = this.#good.get(key) ?? this.#lookUp(key);
      const now = Date.now();
      if (about === undefined || !isActive(about, now)) return undefined;
      if (about.lastUsedOn === undefined || now - about.lastUsedOn >= DAY) this.#noteUse(about, now);
      return about;
    } catch (error) {
      const hash = sha256(key);
      throw this.#snapshot.readFailed(error, () => this.#findByHash.get(hash));
    }
  }

  async add(key: string, about: NewApiKey): Promise<ApiKey> {
    const { rowId } = await this.#writer.run([ADD, ...valuesOf(key, about)]);
    return added(rowId, about);
  }

  async addFirst(key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    const { rowId, changes } = await this.#writer.run([ADD_FIRST, ...valuesOf(key, about)]);
    return changes === 0 ? undefined : added(rowId, about);
  }

  async replace(id: string, endsAt: number, key: string, about: NewApiKey): Promise<ApiKey | undefined> {
    const { rowId, changes } = await this.#writer.run(
      [END, endsAt, endsAt, rowIdOf(id), about.createdAt],
      [ADD_IF_CHANGED, ...valuesOf(key, about)],
    );
    return changes === 0 ? undefined : added(rowId, about);
  }

  async revoke(id: string, revokedAt: number): Promise<ApiKey | undefined> {
    await this.#writer.run([REVOKE, revokedAt, rowIdOf(id)]);
    return this.#reading(() => {
      const row = this.#find.get(rowIdOf(id));
      return row && apiKeyOf(row);
    });
  }

  async list(): Promise<readonly ApiKey[]> {
    return this.#reading(() => this.#list.all().map(apiKeyOf));
  }

  #reading<T>(read: () => T): T {
    try {
      this.#snapshot.enter();
      return read();
    } catch (error) {
      throw this.#snapshot.readFailed(error, read);
    }
  }

  /** A mistyped key is turned away by its checksum. The index finds a hash; it is compared once more, in constant time. */
  #lookUp(key: string): ApiKey | undefined {
    if (!isApiKey(key)) return undefined;
    const hash = sha256(key);
    const row = this.#findByHash.get(hash);
    if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
    const about = apiKeyOf(row);
    if (this.#good.size >= CACHED_KEYS_LIMIT) this.#good.clear();
    this.#good.set(key, about);
    return about;
  }

  /** Once a day and key, behind the answer. It is a note, not a promise: when it fails, the next day has another. */
  #noteUse({ id }: ApiKey, now: number): void {
    const today = now - (now % DAY);
    if (this.#usedOn.get(id) === today) return;
    if (this.#usedOn.size >= CACHED_KEYS_LIMIT) this.#usedOn.clear();
    this.#usedOn.set(id, today);
    this.#writer.run([USED, today, rowIdOf(id)]).catch(() => this.#usedOn.delete(id));
  }
}

function valuesOf(key: string, { name, hint, createdAt, expiresAt }: NewApiKey) {
  return [sha256(key), name, hint, createdAt, expiresAt ?? null] as const;
}

function added(rowId: bigint, about: NewApiKey): ApiKey {
  return Object.freeze({ id: String(rowId), ...about });
}

/** An id that is no row's number is looked up as one that no key has. */
function rowIdOf(id: string): bigint {
  return parseInt64(id) ?? -INT64_MAX;
}

function apiKeyOf(row: Row): ApiKey {
  return Object.freeze({
    id: String(row.id),
    name: row.name,
    hint: row.hint,
    createdAt: Number(row.created_at),
    expiresAt: timeOf(row.expires_at),
    revokedAt: timeOf(row.revoked_at),
    lastUsedOn: timeOf(row.last_used_on),
  });
}

function timeOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}

function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
