import type { Pet, PetStatus } from '../../domain/pet.ts';
import type { Row } from './session.ts';

/** Converts a row with the columns `id, name, category_id, status`. */
export function petOf(row: Row): Pet {
  const [id, name, categoryId, status] = row as readonly [bigint, string, bigint, PetStatus];
  return Object.freeze({ id, name, categoryId, status });
}
