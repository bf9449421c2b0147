/** The storage of the PostgreSQL peer, with the same tables and indexes as animal-store, and one statement per request. */

import { Pool, types } from 'pg';
import { INT64_MIN } from './json.ts';
import { type Change, hashIn, isValid, type KeyRow, type Pet, type Query, type Versioned } from './store.ts';

const POOL_SIZE = 10;
const INT8 = 20;

/** How long a valid key is cached, in milliseconds: as long as animal-store caches one. */
const CACHE_TIME = 2000;

const COLUMNS = 'id, name, category_id AS "categoryId", status';
const LIST = `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`;
/** Compares row values, so that PostgreSQL always starts in the index on `(status, id)`. */
const LIST_OF_STATUS = `SELECT ${COLUMNS} FROM pets
  WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id LIMIT $3`;
const FIND = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;
const ADD = `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`;
/** Adds a column for the version before the first change, because the schema of animal-store has no such column. */
const ADD_VERSION = 'ALTER TABLE pets ADD COLUMN IF NOT EXISTS version int8 NOT NULL DEFAULT 1';
const CHANGE = `UPDATE pets SET name = coalesce($1, name), category_id = coalesce($2, category_id),
  status = coalesce($3, status), version = version + 1
  WHERE id = $4 AND version = coalesce($5, version) RETURNING ${COLUMNS}, version`;
const KEY = 'SELECT hash, expires_at, revoked_at FROM api_keys WHERE hash = $1';

/** Reads int8 values as `bigint`. */
export const EXACT = {
  getTypeParser: ((id: number, format?: 'text') =>
    id === INT8 ? BigInt : types.getTypeParser(id, format)) as typeof types.getTypeParser,
};

export class PostgresStore {
  readonly #pool: Pool;
  readonly #cachedUntil = new Map<string, number>();
  #isVersioned: Promise<unknown> | undefined;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: POOL_SIZE, types: EXACT });
  }

  async list({ limit, status, after = INT64_MIN }: Query): Promise<Pet[]> {
    const query =
      status === undefined
        ? { name: 'list', text: LIST, values: [after, limit] }
        : { name: 'list-of-status', text: LIST_OF_STATUS, values: [status, after, limit] };
    return (await this.#pool.query<Pet>(query)).rows;
  }

  async find(id: bigint): Promise<Pet | undefined> {
    return (await this.#pool.query<Pet>({ name: 'find', text: FIND, values: [id] })).rows[0];
  }

  /** Stores a pet. The pet is durable when this method resolves. */
  async add(name: string, categoryId: bigint, status: string): Promise<Pet> {
    const query = { name: 'add', text: ADD, values: [name, categoryId, status] };
    return (await this.#pool.query<Pet>(query)).rows[0] as Pet;
  }

  /** Like `Store.change`. */
  async change(id: bigint, change: Change, version: string | undefined): Promise<Versioned | undefined> {
    this.#isVersioned ??= this.#pool.query(ADD_VERSION);
    await this.#isVersioned;
    const { name, categoryId, status } = change;
    const query = { name: 'change', text: CHANGE, values: [name, categoryId, status, id, version] };
    return (await this.#pool.query<Versioned>(query)).rows[0];
  }

  /**
   * Whether an `Authorization` header contains a key that is valid, or that was valid when it was cached. Returns a promise only if
   * the key is not cached.
   */
  allows(authorization = ''): boolean | Promise<boolean> {
    return (this.#cachedUntil.get(authorization) ?? 0) > performance.now() || this.#look(authorization);
  }

  async #look(authorization: string): Promise<boolean> {
    const hash = hashIn(authorization);
    if (hash === undefined) return false;
    const { rows } = await this.#pool.query<KeyRow>({ name: 'key', text: KEY, values: [hash] });
    const found = isValid(rows[0], hash);
    if (found) this.#cachedUntil.set(authorization, performance.now() + CACHE_TIME);
    return found;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
