/** The storage of the peers, with the same table, index and pragmas as animal-store, and one transaction per create. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type Database from 'better-sqlite3';

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

/** The new values of the attributes to change. The other attributes keep their values. */
export type Change = { readonly [Name in Exclude<keyof Pet, 'id'>]?: Pet[Name] | undefined };

/** A changed pet. */
export interface Versioned extends Pet {
  readonly version: bigint;
}

export interface Query {
  readonly limit: number;
  readonly status?: string | undefined;
  readonly after?: bigint | undefined;
}

export interface KeyRow {
  readonly hash: Buffer;
  readonly expires_at: bigint | null;
  readonly revoked_at: bigint | null;
}

const COLUMNS = 'id, name, category_id AS categoryId, status';

/** Adds a column for the version before the first change, because the schema of animal-store has no such column. */
const ADD_VERSION = 'ALTER TABLE pets ADD COLUMN version INTEGER NOT NULL DEFAULT 1';
const CHANGE = `UPDATE pets SET name = coalesce(?, name), category_id = coalesce(?, category_id),
  status = coalesce(?, status), version = version + 1
  WHERE id = ? AND version = coalesce(?, version) RETURNING ${COLUMNS}, version`;

/** Returns the hash of the key in an `Authorization` header. */
export function hashIn(authorization = ''): Buffer | undefined {
  const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  return key === undefined ? undefined : createHash('sha256').update(key).digest();
}

/** Whether the row of a key has this hash, and is neither revoked nor expired. */
export function isValid(row: KeyRow | undefined, hash: Buffer): boolean {
  if (row === undefined || !timingSafeEqual(row.hash, hash)) return false;
  return row.revoked_at === null && (row.expires_at === null || row.expires_at > BigInt(Date.now()));
}

export class Store {
  readonly #db: Database.Database;
  readonly #list: Database.Statement;
  readonly #listOfStatus: Database.Statement;
  readonly #find: Database.Statement;
  readonly #add: Database.Statement;
  readonly #key: Database.Statement;
  #change: Database.Statement | undefined;

  /** @param db an open file, whose integers are returned as bigint */
  constructor(db: Database.Database) {
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL');
    this.#db = db;
    this.#list = db.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
    this.#listOfStatus = db.prepare(
      `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`,
    );
    this.#find = db.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
    this.#add = db.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
    this.#key = db.prepare('SELECT hash, expires_at, revoked_at FROM api_keys WHERE hash = ?');
  }

  list({ limit, status, after = 0n }: Query): Pet[] {
    const rows =
      status === undefined ? this.#list.all(after, limit) : this.#listOfStatus.all(status, after, limit);
    return rows as Pet[];
  }

  find(id: bigint): Pet | undefined {
    return this.#find.get(id) as Pet | undefined;
  }

  /** Stores a pet. The pet is durable when this method returns. */
  add(name: string, categoryId: bigint, status: string): Pet {
    const { lastInsertRowid } = this.#add.run(name, categoryId, status);
    return { id: BigInt(lastInsertRowid), name, categoryId, status };
  }

  /** Changes a pet if it has this version. `undefined` matches every version. The change is durable when this method returns. */
  change(id: bigint, change: Change, version: string | undefined): Versioned | undefined {
    this.#change ??= this.#prepareChange();
    const { name, categoryId, status } = change;
    return this.#change.get(name, categoryId, status, id, version) as Versioned | undefined;
  }

  #prepareChange(): Database.Statement {
    const columns = this.#db.pragma('table_info(pets)') as { name: string }[];
    if (!columns.some(({ name }) => name === 'version')) this.#db.exec(ADD_VERSION);
    return this.#db.prepare(CHANGE);
  }

  /** Whether an `Authorization` header contains a key that is valid now. */
  allows(authorization: string | undefined): boolean {
    const hash = hashIn(authorization);
    return hash !== undefined && isValid(this.#key.get(hash) as KeyRow | undefined, hash);
  }

  close(): void {
    this.#db.close();
  }
}
