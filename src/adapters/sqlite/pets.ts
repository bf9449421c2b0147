import { type NewPet, type Pet, type PetStatus, storedPet } from '../../domain/pet.ts';

/** The columns of the attributes of a pet. {@link valuesOf} and {@link petOf} have the same order. */
const ATTRIBUTES = ['name', 'category_id', 'status'];
export const ATTRIBUTE_COLUMNS: string = ATTRIBUTES.join(', ');
export const COLUMNS: string = `id, ${ATTRIBUTE_COLUMNS}`;
export const PARAMETERS: string = ATTRIBUTES.map(() => '?').join(', ');

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];

const ADD_PET = `INSERT INTO pets (${ATTRIBUTE_COLUMNS}) VALUES (${PARAMETERS})`;

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return storedPet(id, { name, categoryId, status });
}

export function valuesOf({ name, categoryId, status }: NewPet): (string | bigint)[] {
  return [name, categoryId, status];
}

/** Returns the statement that adds a pet. */
export function addPet(pet: NewPet): [sql: string, ...values: (string | bigint)[]] {
  return [ADD_PET, ...valuesOf(pet)];
}
