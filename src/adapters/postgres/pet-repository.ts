import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Creates } from './creates.ts';
import type { Pages } from './pages.ts';
import { PETS } from './pets.ts';
import type { Reader } from './reader.ts';

/** Stores pets in PostgreSQL. */
export class PostgresPetRepository implements PetRepository {
  readonly find: (id: bigint) => Promise<Pet | undefined>;
  readonly #pages: Pages;
  readonly #creates: Creates;

  constructor(reader: Reader, pages: Pages, creates: Creates) {
    this.find = reader.readsOf(PETS);
    this.#pages = pages;
    this.#creates = creates;
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    const id = (await this.#creates.addCreate({ pet: { name, categoryId, status } })) as bigint;
    return Object.freeze({ id, name, categoryId, status });
  }

  list(query: PetQuery): Promise<PetPage> {
    return this.#pages.list(query);
  }
}
