/** The statements about pets. A new attribute of a pet is added here, in a migration, and in the rules of a pet. */

import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import { type NewPet, type Pet, type PetStatus, storedPet } from '../../domain/pet.ts';
import type { ResultRow, SqlStatement } from './connection-pool.ts';

/** {@link arraysOf}, {@link petOf} and {@link ARRAYS} have the same order. */
export const ATTRIBUTES = 'name, category_id, status';
export const COLUMNS: string = `id, ${ATTRIBUTES}`;
/** The parameters for the attributes of several pets. Others begin with `$4`. */
export const ARRAYS = '$1::text[], $2::bigint[], $3::text[]';

/**
 * The order of ids is the order in which pets become visible: whoever draws an id holds this lock until the end of the
 * transaction, also while it waits for a standby. Each schema has a lock of its own.
 */
export const TAKE_ORDER = "SELECT pg_advisory_xact_lock(7301, 'pets'::regclass::oid::int)";
/** A part of a `WITH` clause. PostgreSQL leaves it out of a statement that does not read from `ordered`. */
export const ORDER: string = `ordered AS MATERIALIZED (${TAKE_ORDER})`;

/** Converts a row that begins with {@link COLUMNS}. */
export function petOf(row: ResultRow): Pet {
  const [id, name, categoryId, status] = row as readonly [bigint, string, bigint, PetStatus];
  return storedPet(id, { name, categoryId, status });
}

/** Returns the values of {@link ARRAYS}. */
export function arraysOf(pets: readonly NewPet[]): unknown[] {
  const [names, statuses] = [pets.map(({ name }) => name), pets.map(({ status }) => status)];
  return [names, `{${pets.map(({ categoryId }) => categoryId).join()}}`, statuses];
}

/** With a status it compares rows, so that the search starts in the index of the statuses, however few pets have it. */
export function listStatement(query: PetQuery, furtherColumn = 'NULL'): SqlStatement {
  const { limit, status, after = INT64_MIN } = query;
  const select = `SELECT ${COLUMNS}, ${furtherColumn} FROM pets`;
  if (status === undefined)
    return { name: 'list', text: `${select} WHERE id > $1 ORDER BY id LIMIT $2`, values: [after, limit] };
  const text = `${select} WHERE (status, id) > ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2`;
  return { name: 'list-by-status', text, values: [after, limit, status] };
}
