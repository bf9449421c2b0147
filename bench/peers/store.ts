/** The storage of the peers, with the same table, index and pragmas as animal-store, and one transaction per create. */

import { createHash, timingSafeEqual } from 'node:crypto';
import Database from 'better-sqlite3';

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

export interface Query {
  readonly limit: number;
  readonly status?: string | undefined;
  readonly after?: bigint | undefined;
}

interface KeyRow {
  readonly hash: Buffer;
  readonly expires_at: bigint | null;
  readonly revoked_at: bigint | null;
}

const COLUMNS = 'id, name, category_id AS categoryId, status';

export class Store {
  readonly #db: Database.Database;
  readonly #list: Database.Statement<[bigint, number], Pet>;
  readonly #listOfStatus: Database.Statement<[string, bigint, number], Pet>;
  readonly #find: Database.Statement<[bigint], Pet>;
  readonly #add: Database.Statement<[string, bigint, string]>;
  readonly #key: Database.Statement<[Buffer], KeyRow>;

  constructor(path: string) {
    const db = new Database(path, { fileMustExist: true });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.defaultSafeIntegers(true);
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
    return status === undefined ? this.#list.all(after, limit) : this.#listOfStatus.all(status, after, limit);
  }

  find(id: bigint): Pet | undefined {
    return this.#find.get(id);
  }

  /** Stores a pet. The pet is durable when this method returns. */
  add(name: string, categoryId: bigint, status: string): Pet {
    const { lastInsertRowid } = this.#add.run(name, categoryId, status);
    return { id: BigInt(lastInsertRowid), name, categoryId, status };
  }

  /** Whether an `Authorization` header contains a key that is valid now. */
  allows(authorization: string | undefined): boolean {
    const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (key === undefined) return false;
    const hash = createHash('sha256').update(key).digest();
    const row = this.#key.get(hash);
    if (row === undefined || !timingSafeEqual(row.hash, hash)) return false;
    return row.revoked_at === null && (row.expires_at === null || row.expires_at > BigInt(Date.now()));
  }

  close(): void {
    this.#db.close();
  }
}
