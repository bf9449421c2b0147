import { listQuery } from '../../application/list-pets.ts';
import type { CallOptions, PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';
import { parseStoredPets } from '../../domain/pet-json.ts';
import { type ApiClient, nextLink } from './api-client.ts';
import type { ApiResponse } from './errors.ts';

/** Reads one page. */
export function listPets(api: ApiClient, query: PetQuery, options?: CallOptions): Promise<PetPage> {
  const read = (response: ApiResponse) => pageOf(response, query);
  return api.call('listPets', `/pets?${listQuery(query)}`, { read }, options);
}

/** Refuses a page that a cache or a gateway has sent for another query. Reading the pages after it could never end. */
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
