import { type NewPetInput, newPet, type Pet } from '../domain/pet.ts';
import type { PetRepository } from './ports/pet-repository.ts';

/** The use case of `POST /pets`: creates a pet. */
export class CreatePet {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /**
   * Resolves with the stored pet when it is durable. When the input breaks a rule, rejects with `invalid_request`, and
   * stores nothing.
   */
  async execute(input: NewPetInput): Promise<Pet> {
    return await this.#pets.add(newPet(input));
  }
}
