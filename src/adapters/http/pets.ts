/** The handlers of the operations on pets. */

import { listQuery } from '../../application/list-pets.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import { petJson, petsJson } from '../../domain/pet-json.ts';
import { keyedCallerOf } from './authentication.ts';
import { METHODS, type Operation } from './operations.ts';
import type { HttpStore } from './options.ts';
import { petIdOf } from './paths.ts';
import { entityTag, type Representation, respondJson, respondRevalidated } from './respond.ts';
import { type Body, listQueryReader, readNewPet } from './schemas.ts';
import type { ApiMiddleware } from './state.ts';

/** Creates the handlers. The links in responses start with the prefix. */
export function petHandlers(
  store: HttpStore,
  prefix: string,
  operations: readonly Operation[],
): Readonly<Record<'listPets' | 'createPet' | 'getPet', ApiMiddleware>> {
  const pets = `${prefix}/v1/pets`;
  const hasChanges = operations.some(({ id }) => id === 'changePet');
  const listOf = cachedLists(pets);
  const readListQuery = listQueryReader();
  return {
    async listPets(ctx) {
      const query = readListQuery(ctx.querystring);
      const list = listOf(await store.listPage(query), query);
      respondRevalidated(ctx, list);
      if (list.link !== '') ctx.set('Link', list.link);
    },

    async createPet(ctx) {
      const input = readNewPet(ctx.request.body as Body);
      const { pet, isReplay } = await store.createPetOnce(input, keyedCallerOf(ctx));
      ctx.set('Location', `${pets}/${pet.id}`);
      if (isReplay) ctx.set('Idempotency-Replayed', 'true');
      const body = petJson(pet);
      if (hasChanges) ctx.set('ETag', entityTag(body));
      respondJson(ctx, METHODS.POST.success, body);
    },

    async getPet(ctx) {
      const body = petJson(await store.getPet(petIdOf(ctx)));
      respondRevalidated(ctx, { body, etag: entityTag(body) });
    },
  };
}

interface List extends Representation {
  readonly query: PetQuery;
  /** The value of `Link` (RFC 8288), which is empty for the last page. */
  readonly link: string;
}

/**
 * Returns a function that creates the representation of a page of pets, and caches it. The key of the cache is the `PetPage`
 * object: while the stored pets do not change, a storage can return the same immutable object again.
 */
function cachedLists(path: string): (page: PetPage, query: PetQuery) => List {
  const lists = new WeakMap<PetPage, List>();
  return (page, query) => {
    const cached = lists.get(page);
    if (cached?.query === query) return cached;
    const body = petsJson(page.pets);
    const last = page.more ? page.pets.at(-1) : undefined;
    const link = last ? `<${path}?${listQuery({ ...query, after: last.id })}>; rel="next"` : '';
    // When a pet is added after a full last page, that page gets a link, but its body stays the same. A client that revalidates
    // that page must receive the link, and not status 304.
    const list = { body, etag: entityTag(body + link), query, link };
    lists.set(page, list);
    return list;
  };
}
