import type { Pet, PetStatus } from '../../domain/pet.ts';

export const COLUMNS = 'id, name, category_id, status';
export const ADD_PET = 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)';

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return Object.freeze({ id, name, categoryId, status });
}
