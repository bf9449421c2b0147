import { PET_FILTERS } from '../domain/pet-filter.ts';
import type { PetQuery } from './ports/pet-repository.ts';

/** Writes the query string of a page, which is the same for equal queries only: for addresses, links, and keys of caches. */
export function listQuery(query: PetQuery): string {
  let text = `limit=${query.limit}`;
  for (const name of PET_FILTERS) {
    if (query[name] !== undefined) text += `&${name}=${encodeURIComponent(String(query[name]))}`;
  }
  return query.after === undefined ? text : `${text}&after=${query.after}`;
}
