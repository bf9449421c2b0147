import type { CreateResult } from '../../application/ports/idempotent-creates.ts';
import type {
  CallOptions,
  PetPage,
  PetQuery,
  PetRepository,
} from '../../application/ports/pet-repository.ts';
import type { Caller } from '../../application/versioned-writes.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import { newPetJson, parsePet } from '../../domain/pet-json.ts';
import type { ApiResponse } from './errors.ts';
import { readPage } from './pages.ts';
import type { Send } from './request.ts';
import { type ApiWriter, isReplay } from './writer.ts';

/** Stores the pets at a server. */
export class ApiPetRepository implements PetRepository {
  readonly #base: string;
  readonly #send: Send;
  readonly #writer: ApiWriter;

  constructor(base: string, send: Send, writer: ApiWriter) {
    this.#base = base;
    this.#send = send;
    this.#writer = writer;
  }

  list(query: PetQuery, options?: CallOptions): Promise<PetPage> {
    return readPage(this.#base, this.#send, query, options);
  }

  /** Reads a list, because the operation that reads one pet is deprecated. */
  async find(id: bigint, options?: CallOptions): Promise<Pet | undefined> {
    if (id < 1n) return undefined;
    const { pets } = await this.list({ limit: 1, after: id - 1n }, options);
    return pets[0]?.id === id ? pets[0] : undefined;
  }

  async add(pet: NewPet, options?: CallOptions): Promise<Pet> {
    return (await this.addOnce(pet, undefined, options)).pet;
  }

  async addOnce(newPet: NewPet, caller: Caller | undefined, options?: CallOptions): Promise<CreateResult> {
    const request = {
      method: 'POST',
      accepted: [201],
      headers: { 'Content-Type': 'application/json' },
      body: newPetJson(newPet),
      write: 'create',
      caller,
    } as const;
    const sentPet = { ...newPet };
    const read = (response: ApiResponse) => {
      const pet = Object.freeze(parsePet(response.text));
      if (!isSamePet(pet, sentPet)) throw new Error('the response has another pet');
      return { pet, isReplay: isReplay(response) };
    };
    return await this.#writer.send('createPet', '/pets', request, read, options);
  }
}
