import { listQuery } from '../../application/list-pets.ts';
import type { Caller, CreateResult } from '../../application/ports/idempotent-creates.ts';
import type {
  CallOptions,
  PetPage,
  PetQuery,
  PetRepository,
} from '../../application/ports/pet-repository.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import { newPetJson, parsePet, parseStoredPets } from '../../domain/pet-json.ts';
import { type ApiCall, type ApiClient, isReplay, nextLink } from './api-client.ts';
import type { ApiResponse } from './errors.ts';

/** Stores the pets on another server, over its API. */
export class ApiPetRepository implements PetRepository {
  readonly #api: ApiClient;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  list(query: PetQuery, options?: CallOptions): Promise<PetPage> {
    const read = (response: ApiResponse) => pageOf(response, query);
    return this.#api.call('listPets', `/pets?${listQuery(query)}`, { read }, options);
  }

  /** Reads a list, because the operation that reads one pet is deprecated. */
  async find(id: bigint, options?: CallOptions): Promise<Pet | undefined> {
    if (id < 1n) return undefined;
    const [pet] = (await this.list({ limit: 1, after: id - 1n }, options)).pets;
    return pet?.id === id ? pet : undefined;
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

/** Refuses a page that a cache or a gateway has sent for another query. Otherwise, iterating over pages might not end. */
function pageOf(response: ApiResponse, query: PetQuery): PetPage {
  const { limit, after } = query;
  const more = nextLink(response) !== undefined;
  const pets: readonly Pet[] = Object.freeze(parseStoredPets(response.text).map((pet) => Object.freeze(pet)));
  if (pets.length > limit) throw new Error(`the page has more than ${limit} pets`);
  if (pets.length === 0 && more) throw new Error('the page has a next page, and no pets');
  let last = after;
  for (const pet of pets) {
    if (last !== undefined && pet.id <= last)
      throw new Error('the page has ids that are not above the last one');
    if (!matches(pet, query)) throw new Error('the page has pets that do not match');
    last = pet.id;
  }
  return Object.freeze({ pets, more });
}
