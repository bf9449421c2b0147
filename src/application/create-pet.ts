import { type NewPetInput, newPet, type Pet } from '../domain/pet.ts';
import type { CallOptions, PetRepository } from './ports/pet-repository.ts';

/**
 * The use case of `POST /pets`.
 *
 * @example
 * ```ts
 * import { CreatePet, ListPets } from 'animal-store';
 * import { openMemoryStorage } from 'animal-store/memory';
 *
 * const { pets } = openMemoryStorage();
 * await new CreatePet(pets).execute({ name: 'Rex', categoryId: 7n });
 * const page = await new ListPets(pets).execute({ limit: 10 });
 * console.log(page.pets.length); // 1
 * ```
 */
export class CreatePet {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /** Resolves with the stored pet when it is durable. Rejects with `invalid_request` when the input breaks a rule. */
  async execute(input: NewPetInput, options?: CallOptions): Promise<Pet> {
    return await this.#pets.add(newPet(input), options);
  }
}
