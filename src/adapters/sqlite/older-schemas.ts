/** Migrates a store of 1.0, of 2.0, or of a build between 2.0 and 3.0 to the first of `MIGRATIONS`. */

/** The rules of pets since 3.0. */
const PET_RULES = `id > 0 AND length(name) BETWEEN 1 AND 255 AND instr(name, char(0)) = 0
  AND status IN ('available', 'pending', 'sold')`;

/** Pets that broke a rule before the schema had rules keep their ids and attributes. Records of 2.0 ended after a day. */
const ADD_RULES_AND_ENDS = `
  DROP TRIGGER IF EXISTS pets_rules_of_new_rows;
  DROP TRIGGER IF EXISTS pets_rules_of_changed_rows;
  CREATE TEMP TABLE invalid_pets AS SELECT * FROM pets WHERE NOT (${PET_RULES});
  DELETE FROM pets WHERE id IN (SELECT id FROM invalid_pets);
  ALTER TABLE pets ADD CONSTRAINT pet_rules CHECK (${PET_RULES});
  PRAGMA ignore_check_constraints = ON;
  INSERT INTO pets SELECT * FROM invalid_pets;
  PRAGMA ignore_check_constraints = OFF;
  DROP TABLE invalid_pets;

  DROP INDEX idempotency_records_by_age;
  ALTER TABLE idempotency_records RENAME COLUMN created_at TO valid_until;
  UPDATE idempotency_records SET valid_until = valid_until + 86400000;
  CREATE INDEX idempotency_records_by_end ON idempotency_records (valid_until);

  DROP TABLE IF EXISTS idempotency_promises;
  DROP TABLE IF EXISTS verified_backup;
`;

/** 1.0 had the version 1, and 2.0 the version 3. Builds between 2.0 and 3.0 had 4 and 5, and refuse later versions. */
export const UPGRADES: readonly (readonly [version: number, sql: string])[] = [
  [
    2,
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
  ],
  [3, 'CREATE TABLE probe (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;'],
  [5, 'ALTER TABLE api_keys ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0;'],
  [6, ADD_RULES_AND_ENDS],
];

/** Whether a store has tables, and fewer than those of the first of `MIGRATIONS`. */
export function isOlder(version: number, first: number): boolean {
  return version > 0 && version < first;
}

/** Stores of 1.0 have no records of idempotency keys. */
export function hasNoRecords(version: number): boolean {
  return version === 1;
}

/** Returns the upgrades of a store with this schema version, which is greater than 0. */
export function upgradesOf(version: number): readonly string[] {
  return UPGRADES.filter(([to]) => to > version).map(([, sql]) => sql);
}
