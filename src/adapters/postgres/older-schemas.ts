/** Migrates a store of 2.0, or of a build between 2.0 and 3.0, to the schema of the first of `MIGRATIONS`. */

import { DAY } from '../../application/ports/idempotent-creates.ts';

/** The rules of a pet since 3.0. */
const RULES = "id > 0 AND char_length(name) BETWEEN 1 AND 255 AND status IN ('available', 'pending', 'sold')";

/**
 * Migrates from version 1, that of 2.0, and from 2 and 3, which were never released. A constraint that is NOT VALID applies to
 * new and changed rows, so the start does not read the table. It waits for the lock of the table for a short time.
 */
export const UPGRADE: string = `SET LOCAL lock_timeout = '3s';
  ALTER TABLE pets DROP CONSTRAINT IF EXISTS pets_rules, ADD CONSTRAINT pets_rules CHECK (${RULES}) NOT VALID;
  ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS is_read_only boolean NOT NULL DEFAULT false;
  ALTER TABLE idempotency_records RENAME COLUMN created_at TO ends_at;
  ALTER INDEX idempotency_records_by_age RENAME TO idempotency_records_by_end;
  UPDATE idempotency_records SET ends_at = ends_at + ${DAY};
  DROP TABLE IF EXISTS idempotency_promises`;
