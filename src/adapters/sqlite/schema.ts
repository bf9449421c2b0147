/** "PETS" in ASCII. */
export const APPLICATION_ID = 0x50455453n;

/**
 * A released migration is never changed. The pragma `user_version` is the number of migrations that were applied.
 *
 * AUTOINCREMENT ensures that no id is assigned twice. Each entry of a SQLite index ends with the row id, so a page of
 * pets with one status is one contiguous range of the index.
 *
 * The table `probe` is empty, except while the readiness probe tests whether the database can be written.
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
  `
  ALTER TABLE api_keys ADD COLUMN caller_id INTEGER;

  CREATE TABLE idempotency_records (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at);
  `,
  `
  CREATE TABLE probe (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
  `,
  `
  CREATE TRIGGER pets_rules_of_new_rows AFTER INSERT ON pets
    WHEN NOT (NEW.id > 0 AND length(NEW.name) BETWEEN 1 AND 255 AND instr(NEW.name, char(0)) = 0
      AND NEW.status IN ('available', 'pending', 'sold'))
    BEGIN SELECT RAISE(ABORT, 'a pet breaks the rules of id, name or status'); END;

  CREATE TRIGGER pets_rules_of_changed_rows AFTER UPDATE ON pets
    WHEN NOT (NEW.id > 0 AND length(NEW.name) BETWEEN 1 AND 255 AND instr(NEW.name, char(0)) = 0
      AND NEW.status IN ('available', 'pending', 'sold'))
    BEGIN SELECT RAISE(ABORT, 'a pet breaks the rules of id, name or status'); END;
  `,
  `
  ALTER TABLE api_keys ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE idempotency_promises (days INTEGER PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT;

  CREATE TABLE verified_backup (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), made_at INTEGER NOT NULL) STRICT;
  `,
];

/**
 * Selects pets that break the rules: another program stored them before the schema had triggers. An older store or backup is
 * examined too, so every schema version must have the columns.
 */
export const INVALID_PETS = `SELECT id, name, category_id, status FROM pets
  WHERE NOT (id > 0 AND length(name) BETWEEN 1 AND 255 AND instr(name, char(0)) = 0
    AND status IN ('available', 'pending', 'sold'))
  ORDER BY id LIMIT ?`;

/** The greatest id that was assigned, or 0. The table has no column types, so another program can have stored a text. */
export const LAST_ID = `SELECT max(coalesce((SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = 'pets'), 0),
  coalesce((SELECT max(id) FROM pets), 0))`;

/** The time of the last backup that was verified. */
export const LAST_BACKUP = 'SELECT made_at FROM verified_backup';
export const SET_LAST_BACKUP = `INSERT INTO verified_backup VALUES (1, ?)
  ON CONFLICT DO UPDATE SET made_at = excluded.made_at`;

/** Selects the largest number of days that is promised at a time. */
export const PROMISED = 'SELECT max(days) FROM idempotency_promises WHERE ends_at >= ?';
