import type { PetPage, PetQuery } from '../../../application/ports/pet-repository.ts';
import { parseInt64 } from '../../../domain/int64.ts';
import type { Pet } from '../../../domain/pet.ts';
import { petJson, petsJson } from '../../../domain/pet-json.ts';
import { fieldOf, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import type { Operation } from './operations.ts';
import type { HttpStore } from './options.ts';
import { checkCreate, entityTag, type Representation, respondJson, respondRevalidated } from './responses.ts';
import { listQueryReader, type newPetMembers, readNewPet } from './schemas.ts';

/** The stages of each operation: its handler, and what stands in front of it. */
export type PetRoutes = Readonly<Record<Operation['id'], readonly Stage[]>>;

/**
 * @param prefix the path in front of `/v1` in the links of responses
 * @param beforeCreate what stands in front of creates, and sets `ctx.request.body` to the members of a new pet
 */
export function petRoutes(store: HttpStore, prefix: string, beforeCreate: readonly Stage[]): PetRoutes {
  const { listPets, createPet, getPet } = petHandlers(store, prefix);
  return {
    listPets: [listPets],
    createPet: [...beforeCreate, createPet],
    getPet: [getPet],
  };
}

function petHandlers(store: HttpStore, prefix: string): Record<Operation['id'], Stage> {
  const pets = `${prefix}/v1/pets`;
  const listOf = cachedLists(pets);
  const readListQuery = listQueryReader();
  const listAt = async (queryString: string): Promise<List> => {
    const query = readListQuery(queryString);
    return listOf(await store.listPage(query), query);
  };
  return {
    async listPets(ctx) {
      const list = await listAt(ctx.querystring);
      respondRevalidated(ctx, list);
      if (list.link !== '') ctx.set('Link', list.link);
    },

    async createPet(ctx) {
      const key = fieldOf(ctx, 'idempotency-key');
      const input = readNewPet(ctx.request.body as ReturnType<typeof newPetMembers>);
      await checkCreate(ctx, async () => (await listAt(ctx.querystring)).etag);
      const { callerId = '' } = ctx.state.animalStore;
      const { pet, isReplay } =
        key === undefined
          ? { pet: await store.createPet(input), isReplay: false }
          : await store.createPetOnce(input, callerId, key);
      ctx.set('Location', `${pets}/${pet.id}`);
      if (isReplay) ctx.set('Idempotency-Replayed', 'true');
      respondJson(ctx, 201, petJson(pet));
    },

    async getPet(ctx) {
      const id = parseInt64(ctx.params?.['petId'] ?? '');
      if (id === undefined) throw new HttpError('not_found', 'there is no such pet: an id is an int64');
      const body = petJson(await store.getPet(id));
      respondRevalidated(ctx, { body, etag: entityTag(body) });
    },
  };
}

interface List extends Representation {
  readonly query: PetQuery;
  /** The value of `Link`, which is empty for the last page. */
  readonly link: string;
}

/**
 * Returns a function that creates the representation of a page of pets, and caches it. While the stored pets do not
 * change, a storage can return the same immutable `PetPage` object again.
 */
function cachedLists(path: string): (page: PetPage, query: PetQuery) => List {
  const lists = new WeakMap<PetPage, List>();
  return (page, query) => {
    const cached = lists.get(page);
    if (cached?.query === query) return cached;
    const body = petsJson(page.pets);
    const link = linkToNext(path, page, query);
    // When a pet is added after a full last page, that page gets a link, but its body stays the same. A client that
    // revalidates that page must receive the link, and not status 304.
    const list = { body, etag: entityTag(body + link), query, link };
    lists.set(page, list);
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
