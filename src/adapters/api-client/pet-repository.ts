import { listQuery } from '../../application/list-pets.ts';
import type { Caller, CreateResult } from '../../application/ports/idempotent-creates.ts';
import type {
  CallOptions,
  PetPage,
  PetQuery,
  PetRepository,
} from '../../application/ports/pet-repository.ts';
import type { StoreStorage } from '../../application/ports/storage.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import { newPetJson, parsePet, parseStoredPets } from '../../domain/pet-json.ts';
import { type ApiCall, type ApiClient, isReplay, nextLink } from './api-client.ts';
import type { ApiResponse } from './errors.ts';

/** Returns the ports that store pets on another server, over its API. */
export function apiPets(api: ApiClient): Pick<StoreStorage, 'pets' | 'idempotentCreates'> {
  const list: PetRepository['list'] = (query, options) => {
    const read = (response: ApiResponse) => pageOf(response, query);
    return api.call('listPets', `/pets?${listQuery(query)}`, { read }, options);
  };
  const add = async (newPet: NewPet, caller: Caller | undefined, options?: CallOptions) => {
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
    return await api.call('createPet', '/pets', call, options);
  };
  return {
    pets: {
      list,
      /** Reads a list, because the operation that reads one pet is deprecated. */
      async find(id, options) {
        if (id < 1n) return undefined;
        const [pet] = (await list({ limit: 1, after: id - 1n }, options)).pets;
        return pet?.id === id ? pet : undefined;
      },
      add: async (pet, options) => (await add(pet, undefined, options)).pet,
    },
    idempotentCreates: { add },
  };
}

/** Refuses a page that a cache or a gateway has sent for another query. With such a page, iterating might not end. */
function pageOf(response: ApiResponse, query: PetQuery): PetPage {
  const { limit } = query;
  const more = nextLink(response) !== undefined;
  const pets: readonly Pet[] = Object.freeze(parseStoredPets(response.text).map((pet) => Object.freeze(pet)));
  if (pets.length > limit) throw new Error(`the page has more than ${limit} pets`);
  if (pets.length === 0 && more) throw new Error('the page has a next page, and no pets');
  let { after: last } = query;
  for (const pet of pets) {
    if (last !== undefined && pet.id <= last)
      throw new Error('the page has ids that are not above the last one');
    if (!matches(pet, query)) throw new Error('the page has pets that do not match');
    last = pet.id;
  }
  return Object.freeze({ pets, more });
}
