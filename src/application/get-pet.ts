import { AnimalStoreError, invalidRequest } from '../domain/errors.ts';
import { int64Fault, toInt64 } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import type { CallOptions, PetRepository } from './ports/pet-repository.ts';

/** The use case of `GET /pets/{petId}`. */
export class GetPet {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /** Resolves with a pet, as `AnimalStore.getPet` describes. */
  async execute(id: bigint | number, options?: CallOptions): Promise<Pet> {
    const pet = await this.#pets.find(idOf(id), options);
    // A storage that is written in plain JavaScript can resolve with `null`.
    if (!pet) throw noSuchPet(id);
    return pet;
  }
}

/**
 * Returns an id as a `bigint`. Throws `not_found` for a `bigint` outside the range of an int64, and `invalid_request` for any value
 * that is neither a `bigint` nor a safe integer.
 */
export function idOf(id: bigint | number): bigint {
  const exact = toInt64(id);
  if (exact === undefined)
    throw typeof id === 'bigint' ? noSuchPet(id) : invalidRequest(int64Fault('id', id));
  return exact;
}

export function noSuchPet(id: bigint | number): AnimalStoreError {
  return new AnimalStoreError('not_found', `there is no pet with id ${id}`);
}
