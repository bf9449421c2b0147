import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

/** Stores pets in PostgreSQL. */
export class PostgresPetRepository implements PetRepository {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    const id = await this.#writer.storePet({ name, categoryId, status });
    return Object.freeze({ id, name, categoryId, status });
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.#reader.find(id);
  }

  list(query: PetQuery): Promise<PetPage> {
    return this.#reader.list(query);
  }
}
