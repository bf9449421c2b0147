import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';
import type { ResultRow, SqlStatement } from './connection-pool.ts';

export const COLUMNS = 'id, name, category_id, status';

/** Converts a row that begins with the columns `id, name, category_id, status`. */
export function petOf(row: ResultRow): Pet {
  const [id, name, categoryId, status] = row as readonly [bigint, string, bigint, PetStatus];
  return Object.freeze({ id, name, categoryId, status });
}

/**
 * With a status it compares rows, so that the search starts in the index of the statuses, however few pets have it.
 *
 * @param more an expression whose value is a further column
 */
export function listStatement({ limit, status, after = INT64_MIN }: PetQuery, more = 'NULL'): SqlStatement {
  if (status === undefined) {
    const text = `SELECT ${COLUMNS}, ${more} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`;
    return { name: 'list', text, values: [after, limit] };
  }
  const text = `SELECT ${COLUMNS}, ${more} FROM pets WHERE (status, id) > ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2`;
  return { name: 'list-by-status', text, values: [after, limit, status] };
}

/** Returns three arrays as parameters of a statement. */
export function columnsOf(pets: readonly NewPet[]): unknown[] {
  return [
    pets.map(({ name }) => name),
    `{${pets.map(({ categoryId }) => categoryId).join()}}`,
    `{${pets.map(({ status }) => status).join()}}`,
  ];
}
