/** The three operations on animals: from a request to a use case, and from what it gives to an answer. */

import { hash } from 'node:crypto';
import type { RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { CreatePet } from '../../application/create-pet.ts';
import type { GetPet } from '../../application/get-pet.ts';
import type { ListPets } from '../../application/list-pets.ts';
import type { PetPage, PetQuery } from '../../application/ports.ts';
import { parseInt64 } from '../../domain/int64.ts';
import { petJson, petsJson } from '../../domain/json.ts';
import type { Pet } from '../../domain/pet.ts';
import { send, sendJson } from './answer.ts';
import { readJson } from './body.ts';
import { DEPRECATION_HEADERS } from './deprecation.ts';
import { type Headers, HttpError } from './errors.ts';
import { API_HEADERS, JSON_HEADERS, matches, REVALIDATE } from './headers.ts';
import type { Operation } from './operations.ts';
import { readListQuery, readNewPet } from './schemas.ts';

export interface UseCases {
  readonly createPet: CreatePet;
  readonly listPets: ListPets;
  readonly getPet: GetPet;
}

export type Handler = (ctx: RouterContext) => Promise<void> | void;

/** A body with what goes with it, ready to be sent as often as it stands. */
interface Representation {
  readonly body: string;
  readonly etag: string;
  readonly headers: Headers;
}

export function petHandlers({ createPet, listPets, getPet }: UseCases): Record<Operation['id'], Handler> {
  return {
    async listPets(ctx) {
      const query = readListQuery(ctx.querystring);
      sendRepresentation(ctx, representationOf(await listPets.execute(query), query));
    },

    async createPet(ctx) {
      const pet = await createPet.execute(readNewPet(await readJson(ctx)));
      sendJson(ctx, 201, petJson(pet), ['Location', `/v1/pets/${pet.id}`]);
    },

    async getPet(ctx) {
      const id = parseInt64(ctx.params['petId'] ?? '');
      if (id === undefined) throw new HttpError('not_found', 'there is no such pet: an id is an int64');
      const body = petJson(await getPet.execute(id));
      sendRepresentation(ctx, { body, etag: etagOf(body), headers: DEPRECATION_HEADERS });
    },
  };
}

/**
 * A store that has not changed gives the same page again; what was made of it for the same query is then sent again.
 * Nothing can be stale: a page never changes, and what belongs to a page that is gone goes with it.
 */
const representations = new WeakMap<PetPage, { query: PetQuery; representation: Representation }>();

function representationOf(page: PetPage, query: PetQuery): Representation {
  const kept = representations.get(page);
  if (kept?.query === query) return kept.representation;
  const body = petsJson(page.pets);
  const link = linkToNext(page, query);
  const representation = { body, etag: etagOf(body + link), headers: link === '' ? [] : ['Link', link] };
  representations.set(page, { query, representation });
  return representation;
}

/** That of a list covers its link too, or a client that revalidates its last page would miss that one follows now. */
function etagOf(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`;
}

/** RFC 8288. */
function linkToNext({ pets, more }: PetPage, { limit, status }: PetQuery): string {
  const last: Pet | undefined = pets.at(-1);
  if (!more || last === undefined) return '';
  const filter = status === undefined ? '' : `&status=${status}`;
  return `</v1/pets?limit=${limit}${filter}&after=${last.id}>; rel="next"`;
}

function sendRepresentation(ctx: Context, { body, etag, headers }: Representation): void {
  if (matches(ctx.req.headers['if-none-match'], etag)) {
    send(ctx, 304, [...API_HEADERS, ...REVALIDATE, 'ETag', etag, ...headers]);
  } else {
    send(ctx, 200, [...JSON_HEADERS, ...REVALIDATE, 'ETag', etag, ...headers], body);
  }
}
