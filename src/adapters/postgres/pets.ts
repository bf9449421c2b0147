import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import { type NewPet, type Pet, type PetStatus, storedPet } from '../../domain/pet.ts';
import type { ResultRow, SqlStatement } from './connection-pool.ts';

/** The columns of the attributes of a pet, with their types. {@link arraysOf} and {@link petOf} have the same order. */
export const ATTRIBUTES: Readonly<Record<string, string>> = {
  name: 'text not null',
  category_id: 'bigint not null',
  status: 'text not null',
};
export const ATTRIBUTE_COLUMNS: string = Object.keys(ATTRIBUTES).join(', ');
export const COLUMNS: string = `id, ${ATTRIBUTE_COLUMNS}`;

/** Parameters for the attributes of several pets, one array for each attribute. */
export const ARRAYS: string = Object.values(ATTRIBUTES)
  .map((type, index) => `$${index + 1}::${type.split(' ')[0]}[]`)
  .join(', ');

/** Returns the number of the parameter that is `place` behind {@link ARRAYS}. */
export function parameter(place: number): string {
  return `$${Object.keys(ATTRIBUTES).length + place}`;
}

/** Converts a row that begins with {@link COLUMNS}. */
export function petOf(row: ResultRow): Pet {
  const [id, name, categoryId, status] = row as readonly [bigint, string, bigint, PetStatus];
  return storedPet(id, { name, categoryId, status });
}

/** Returns the values of {@link ARRAYS}. */
export function arraysOf(pets: readonly NewPet[]): unknown[] {
  return [
    pets.map(({ name }) => name),
    `{${pets.map(({ categoryId }) => categoryId).join()}}`,
    `{${pets.map(({ status }) => status).join()}}`,
  ];
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
