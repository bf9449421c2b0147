/**
 * The handlers of the three operations on pets. Each handler calls the store, and converts the result to a response.
 */

import type { PetPage, PetQuery } from '../../../application/ports/pet-repository.ts';
import { parseInt64 } from '../../../domain/int64.ts';
import { petJson, petsJson } from '../../../domain/json.ts';
import type { Pet } from '../../../domain/pet.ts';
import { DEPRECATION_HEADERS } from './deprecation.ts';
import { entityTag } from './entity-tag.ts';
import { HttpError } from './errors.ts';
import type { ApiRequest, ApiResponse, Handler, Headers } from './http.ts';
import { readJson } from './json-body.ts';
import type { Operation } from './operations.ts';
import type { HttpStore } from './options.ts';
import { jsonResponse, type Representation, representation, revalidated } from './responses.ts';
import { readListQuery, readNewPet } from './schemas.ts';

export function petHandlers(store: HttpStore): Record<Operation['id'], Handler> {
  return {
    async listPets(request) {
      const query = readListQuery(request.query);
      return revalidated(request, listOf(await store.listPage(query), query));
    },

    async createPet(request) {
      const key = request.head.headers['idempotency-key'];
      if (key !== undefined) return await createOnce(store, request, String(key));
      const pet = await store.createPet(readNewPet(await readJson(request)));
      return created(pet);
    },

    async getPet(request) {
      const id = parseInt64(request.params['petId'] ?? '');
      if (id === undefined) throw new HttpError('not_found', 'there is no such pet: an id is an int64');
      const body = petJson(await store.getPet(id));
      return revalidated(request, representation(body, entityTag(body), DEPRECATION_HEADERS));
    },
  };
}

/** Creates a pet exactly once for the caller and the idempotency key. */
async function createOnce(store: HttpStore, request: ApiRequest, key: string): Promise<ApiResponse> {
  const input = readNewPet(await readJson(request));
  const { pet, isReplay } = await store.createPetOnce(input, request.callerId, key);
  return created(pet, isReplay ? ['Idempotency-Replayed', 'true'] : []);
}

function created(pet: Pet, headers: Headers = []): ApiResponse {
  return jsonResponse(201, petJson(pet), ['Location', `/v1/pets/${pet.id}`, ...headers]);
}

/**
 * Caches the response for each page of pets. If the stored pets have not changed, a storage can return the same
 * immutable `PetPage` object again, and the cached response is then used again. A cached response is garbage-collected
 * together with its `PetPage`.
 */
const representations = new WeakMap<PetPage, { query: PetQuery; list: Representation }>();

function listOf(page: PetPage, query: PetQuery): Representation {
  const cached = representations.get(page);
  if (cached?.query === query) return cached.list;
  const body = petsJson(page.pets);
  const link = linkToNext(page, query);
  // The entity tag depends on the body and on the link to the next page. When a pet is added after a full last page,
  // that page gets a link to a next page, but its body stays the same. A client that revalidates that page must receive
  // the link, and not status 304.
  const list = representation(body, entityTag(body + link), link === '' ? [] : ['Link', link]);
  representations.set(page, { query, list });
  return list;
}

/**
 * Returns the value of the `Link` field (RFC 8288) with the URL of the next page. Returns an empty string for the last
 * page.
 */
function linkToNext({ pets, more }: PetPage, { limit, status }: PetQuery): string {
  const last: Pet | undefined = pets.at(-1);
  if (!more || last === undefined) return '';
  const filter = status === undefined ? '' : `&status=${status}`;
  return `</v1/pets?limit=${limit}${filter}&after=${last.id}>; rel="next"`;
}
