import { type NewPetInput, newPet, type Pet } from '../domain/pet.ts';
import type { PetRepository } from './ports.ts';

/** Adds an animal (specification, section 4.2). */
export class CreatePet {
  readonly #pets: PetRepository;

  constructor(pets: PetRepository) {
    this.#pets = pets;
  }

  /** The stored animal, durable. Rejects with `invalid_request` when the input breaks a rule; nothing is stored then. */
  async execute(input: NewPetInput): Promise<Pet> {
    return await this.#pets.add(newPet(input));
  }
}
