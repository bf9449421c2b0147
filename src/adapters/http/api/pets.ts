import type { PetPage, PetQuery } from '../../../application/ports/pet-repository.ts';
import { parseInt64 } from '../../../domain/int64.ts';
import type { Pet } from '../../../domain/pet.ts';
import { petJson, petsJson } from '../../../domain/pet-json.ts';
import type { Admission } from './admission.ts';
import { readOnlyKey } from './authentication.ts';
import { HttpError } from './errors.ts';
import type { Handler } from './exchange.ts';
import { API_HEADERS } from './headers.ts';
import type { ApiResponse, Headers } from './http.ts';
import { readJson } from './json-body.ts';
import type { Operation } from './operations.ts';
import type { HttpStore } from './options.ts';
import { checkCreate } from './preconditions.ts';
import { entityTag, jsonResponse, type Representation, representation, revalidated } from './responses.ts';
import { listQueryReader, newPetMembers, readNewPet } from './schemas.ts';

/** @param prefix the path in front of `/v1` in the links of responses */
export function petHandlers(
  store: HttpStore,
  admission: Admission,
  prefix: string,
): Record<Operation['id'], Handler> {
  const pets = `${prefix}/v1/pets`;
  const listOf = cachedLists(pets);
  const readListQuery = listQueryReader();
  const listAt = async (queryString: string): Promise<Representation> => {
    const query = readListQuery(queryString);
    return listOf(await store.listPage(query), query);
  };
  return {
    async listPets({ head, carried }) {
      return revalidated(head, await listAt(carried.query));
    },

    async createPet(exchange) {
      if (exchange.holder?.isReadOnly) throw readOnlyKey();
      const key = exchange.head.headers['idempotency-key'];
      const input = readNewPet(await readJson(exchange, newPetMembers));
      await checkCreate(exchange.head, async () => (await listAt(exchange.carried.query)).etag);
      admission.beginCreate();
      try {
        if (key === undefined) return created(pets, await store.createPet(input));
        const { pet, isReplay } = await store.createPetOnce(input, exchange.callerId ?? '', key);
        return created(pets, pet, isReplay ? REPLAYED : []);
      } finally {
        admission.endCreate();
      }
    },

    async getPet({ head, match }) {
      const id = parseInt64(match?.params['petId'] ?? '');
      if (id === undefined) throw new HttpError('not_found', 'there is no such pet: an id is an int64');
      const body = petJson(await store.getPet(id));
      return revalidated(head, representation(body, entityTag(body)));
    },
  };
}

const REPLAYED: Headers = ['Idempotency-Replayed', 'true'];

function created(pets: string, pet: Pet, headers: Headers = []): ApiResponse {
  return jsonResponse(201, petJson(pet), ['Location', `${pets}/${pet.id}`, ...headers]);
}

/**
 * Returns a function that creates the response for a page of pets, and caches it. While the stored pets do not change, a
 * storage can return the same immutable `PetPage` object again.
 */
function cachedLists(path: string): (page: PetPage, query: PetQuery) => Representation {
  const representations = new WeakMap<PetPage, { query: PetQuery; list: Representation }>();
  return (page, query) => {
    const cached = representations.get(page);
    if (cached?.query === query) return cached.list;
    const body = petsJson(page.pets);
    const link = linkToNext(path, page, query);
    // When a pet is added after a full last page, that page gets a link, but its body stays the same. A client that
    // revalidates that page must receive the link, and not status 304.
    const headers = link === '' ? API_HEADERS : [...API_HEADERS, 'Link', link];
    const list = representation(body, entityTag(body + link), headers);
    representations.set(page, { query, list });
    return list;
  };
}

/** Returns the value of the `Link` field (RFC 8288), which is empty for the last page. */
function linkToNext(path: string, { pets, more }: PetPage, { limit, status }: PetQuery): string {
  const last: Pet | undefined = pets.at(-1);
  if (!more || last === undefined) return '';
  const filter = status === undefined ? '' : `&status=${status}`;
  return `<${path}?limit=${limit}${filter}&after=${last.id}>; rel="next"`;
}
