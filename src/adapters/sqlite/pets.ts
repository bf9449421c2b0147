/** The statement that adds a pet. */

import { type NewPet, PET_ATTRIBUTES } from '../../domain/pet.ts';
import { ATTRIBUTE_COLUMNS, valuesOf } from '../storage-kit/pet-rows.ts';
import type { SqlStatement } from './writer-thread.ts';

/** The parameters for the attributes of a pet. */
export const PARAMETERS: string = PET_ATTRIBUTES.map(() => '?').join(', ');

const ADD_PET = `INSERT INTO pets (${ATTRIBUTE_COLUMNS}) VALUES (${PARAMETERS})`;

export function addPet(pet: NewPet): SqlStatement {
  return [ADD_PET, ...valuesOf(pet)];
}
