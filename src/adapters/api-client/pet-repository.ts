import type { Caller, CreateResult } from '../../application/ports/idempotent-creates.ts';
import type {
  CallOptions,
  PetPage,
  PetQuery,
  PetRepository,
} from '../../application/ports/pet-repository.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import { newPetJson, parsePet } from '../../domain/pet-json.ts';
import { type ApiCall, type ApiClient, isReplay } from './api-client.ts';
import { findPet } from './find-pet.ts';
import { listPets } from './list-pets.ts';

/** Stores the pets at a server. */
export class ApiPetRepository implements PetRepository {
  readonly #api: ApiClient;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  list(query: PetQuery, options?: CallOptions): Promise<PetPage> {
    return listPets(this.#api, query, options);
  }

  async find(id: bigint, options?: CallOptions): Promise<Pet | undefined> {
    return id < 1n ? undefined : findPet(this.#api, id, options);
  }

  async add(pet: NewPet, options?: CallOptions): Promise<Pet> {
    return (await this.addOnce(pet, undefined, options)).pet;
  }

  async addOnce(newPet: NewPet, caller: Caller | undefined, options?: CallOptions): Promise<CreateResult> {
    const sentPet = { ...newPet };
    const call: ApiCall<CreateResult> = {
      method: 'POST',
      success: 201,
      headers: { 'Content-Type': 'application/json' },
      body: newPetJson(newPet),
      write: 'create',
      caller,
      read(response) {
        const pet = Object.freeze(parsePet(response.text));
        if (!isSamePet(pet, sentPet)) throw new Error('the response has another pet');
        return { pet, isReplay: isReplay(response) };
      },
    };
    return await this.#api.call('createPet', '/pets', call, options);
  }
}
