/** The tables, as the list of steps that made them. The file's `user_version` counts the steps it has seen. */

/** Marks a SQLite file as ours: "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453n;

/**
 * A step is never changed once released: a change of the schema is one more step.
 *
 * AUTOINCREMENT: an id is never given twice. The index ends with the id, as every SQLite index does, so one range of
 * it is a page of a status.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL
  ) STRICT;

  CREATE INDEX pets_by_status ON pets (status);

  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_on INTEGER
  ) STRICT;
  `,
];
