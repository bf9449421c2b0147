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
    const exactId = toInt64(id);
    if (exactId === undefined && typeof id !== 'bigint') throw invalidRequest(int64Fault('id', id));
    const pet = exactId === undefined ? undefined : await this.#pets.find(exactId, options);
    // A storage without types can resolve with `null`.
    if (!pet) throw new AnimalStoreError('not_found', `there is no pet with id ${id}`);
    return pet;
  }
}
