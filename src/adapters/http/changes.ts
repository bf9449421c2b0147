/** The handlers of the operations that change pets and list changes. */

import { type IfMatch, STRONG_TAG } from '../../application/entity-tag.ts';
import type { PetState } from '../../application/list-changes.ts';
import type { Caller } from '../../application/ports/idempotent-creates.ts';
import { idempotencyKey } from '../../domain/idempotency-key.ts';
import { petJson } from '../../domain/pet-json.ts';
import { keyedCallerOf } from './authentication.ts';
import { fieldOf } from './check-head.ts';
import { HttpError } from './errors.ts';
import { METHODS } from './operations.ts';
import type { HttpStore } from './options.ts';
import { petIdOf } from './paths.ts';
import { entityTag, noContent, respondJson, respondRevalidated } from './respond.ts';
import { type Body, readChange, readChangesQuery } from './schemas.ts';
import type { ApiContext, ApiMiddleware } from './state.ts';

type Handlers = Readonly<Record<'changePet' | 'removePet' | 'listChanges', ApiMiddleware>>;

/** Creates the handlers. The links in responses start with the prefix. */
export function changeHandlers(httpStore: HttpStore, prefix: string): Handlers {
  // If these operations are served, `createApi` has checked that the store can change pets.
  const store = httpStore as Required<HttpStore>;
  return {
    async changePet(ctx) {
      const change = readChange(ctx.request.body as Body);
      const caller = checkedCallerOf(ctx);
      const [id, options] = [petIdOf(ctx), { ifMatch: ifMatchOf(ctx) }];
      const { pet, etag, isReplay } = await store.changePetOnce(id, change, caller, options);
      ctx.set('ETag', etag);
      if (isReplay) ctx.set('Idempotency-Replayed', 'true');
      respondJson(ctx, METHODS.PATCH.success, petJson(pet));
    },

    async removePet(ctx) {
      const caller = checkedCallerOf(ctx);
      const { isReplay } = await store.removePetOnce(petIdOf(ctx), caller, { ifMatch: ifMatchOf(ctx) });
      if (isReplay) ctx.set('Idempotency-Replayed', 'true');
      noContent(ctx);
    },

    async listChanges(ctx) {
      const query = readChangesQuery(ctx.querystring);
      const { changes, next, more } = await store.listStates(query);
      const body = `[${changes.map(stateJson).join(',')}]`;
      const url = `${prefix}/v1/changes?limit=${query.limit}`;
      const link = more && next ? `<${url}&after=${encodeURIComponent(next)}>; rel="next"` : '';
      respondRevalidated(ctx, { body, etag: entityTag(body + link) });
      if (link !== '') ctx.set('Link', link);
    },
  };
}

/** Refuses an invalid idempotency key even if `If-Match` is missing. */
function checkedCallerOf(ctx: ApiContext): Caller | undefined {
  const caller = keyedCallerOf(ctx);
  if (caller !== undefined) idempotencyKey(caller.key);
  return caller;
}

/**
 * Returns `*`, or the strong entity tags of `If-Match` (RFC 9110, section 13.1.1). Leaves out weak and invalid tags, because they
 * match no pet.
 */
function ifMatchOf({ req }: ApiContext): IfMatch {
  const field = fieldOf(req, 'if-match');
  if (field === undefined) {
    const message = 'If-Match is required: the ETag of the pet that the request is for, or * for any version';
    throw new HttpError('precondition_required', message);
  }
  if (field.trim() === '*') return '*';
  const elements = field.split(',').map((element) => element.trim());
  return elements.filter((element) => STRONG_TAG.test(element));
}

function stateJson({ cursor, pet, removed }: PetState): string {
  if (pet === undefined) return `{"cursor":"${cursor}","removed":${removed}}`;
  const json = petJson(pet);
  return `{"cursor":"${cursor}","pet":${json},"etag":${JSON.stringify(entityTag(json))}}`;
}
