/** The operations of the API, as the specification's section 4 has them. Routes and documents follow this table. */

export type Stability = 'experimental' | 'beta';

export interface Operation {
  readonly id: 'listPets' | 'createPet' | 'getPet';
  readonly method: 'GET' | 'POST';
  /** The path's template below the server's root. */
  readonly path: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  /** Marks an operation that may still change (specification, section 9). */
  readonly stability?: Stability;
}

export const OPERATIONS: readonly Operation[] = [
  { id: 'listPets', method: 'GET', path: '/v1/pets', summary: 'List all animals' },
  { id: 'createPet', method: 'POST', path: '/v1/pets', summary: 'Add an animal' },
  { id: 'getPet', method: 'GET', path: '/v1/pets/{petId}', summary: 'Get an animal', deprecated: true },
];
