import { AnimalStoreError } from '../domain/errors.ts';
import { isInt64 } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import type { PetRepository } from './ports/pet-repository.ts';

/** The use case of `GET /pets/{petId}`: gets a pet by its id. */
export class GetPet {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /** Resolves with the pet. Rejects with `not_found` when no pet has this id. */
  async execute(id: bigint): Promise<Pet> {
    const pet = isInt64(id) ? await this.#pets.find(id) : undefined;
    if (pet === undefined) throw new AnimalStoreError('not_found', `there is no pet with id ${id}`);
    return pet;
  }
}
