import type { Change, ChangeUseCases } from '../../application/change-calls.ts';
import type { ChangeResult } from '../../application/change-pet.ts';
import type { IfMatch, TaggedPet } from '../../application/entity-tag.ts';
import type { ChangesList } from '../../application/list-changes.ts';
import { LIMIT_DEFAULT, limitFault } from '../../application/list-pets.ts';
import type { CallOptions } from '../../application/ports/pet-repository.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { parseJson, readMembers } from '../../domain/json.ts';
import { PET_ATTRIBUTES } from '../../domain/pet.ts';
import { petChange } from '../../domain/pet-change.ts';
import { petChangeJson, storedPetFrom } from '../../domain/pet-json.ts';
import { type ApiCall, type ApiClient, isReplay, nextLink } from './api-client.ts';
import type { ApiResponse } from './errors.ts';

const CURSOR = /^[\x21-\x7e]{1,64}$/;
const ENTITY_TAG = /^"[\x21\x23-\x7e]*"$/;
/** An entity tag that no pet has. */
const NO_TAG = '""';

const OTHER_PET = 'the response has another pet';
const NO_PAGE = 'the response is not the page of changes that was requested';

const membersOf = (value: unknown) => readMembers(value, ['cursor', 'pet', 'etag', 'removed']);

/** Returns the use cases that change pets and list changes, over the API of a server. */
export function apiChangeUseCases(api: ApiClient): ChangeUseCases {
  const write = async <T>(
    operation: string,
    id: bigint,
    ifMatch: IfMatch,
    call: ApiCall<T>,
    options: CallOptions | undefined,
  ): Promise<T> => {
    const headers = { ...call.headers, 'If-Match': ifMatchField(ifMatch) };
    const change = { ...call, headers, write: 'change', isOfPet: true, unserved: 405 } as const;
    return await api.call(operation, `/pets/${id}`, change, options);
  };
  return {
    changePet: {
      async execute(id, input, ifMatch, caller, options) {
        const change = petChange(input);
        const call: ApiCall<ChangeResult> = {
          method: 'PATCH',
          headers: { 'Content-Type': 'application/merge-patch+json' },
          body: petChangeJson(change),
          caller,
          read(response) {
            const { pet, etag } = taggedPetOf(response, id);
            const isChanged = PET_ATTRIBUTES.every((name) => {
              const value = change[name];
              return value === undefined || value === (pet[name] ?? null);
            });
            if (!isChanged) throw new Error(OTHER_PET);
            return { pet, etag, isReplay: isReplay(response) };
          },
        };
        return await write('changePet', id, ifMatch, call, options);
      },
    },
    removePet: {
      execute(id, ifMatch, caller, options) {
        const read = (response: ApiResponse) => ({ isReplay: isReplay(response) });
        return write('removePet', id, ifMatch, { method: 'DELETE', success: 204, caller, read }, options);
      },
    },
    listChanges: {
      async execute({ after, limit = LIMIT_DEFAULT } = {}, options) {
        const isCursor = after === undefined || (typeof after === 'string' && CURSOR.test(after));
        const fault = limitFault(limit) ?? (isCursor ? undefined : 'after must be a cursor of a change');
        if (fault !== undefined) throw invalidRequest(fault);
        const start = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
        const read = (response: ApiResponse): ChangesList<Change> => {
          const changes = changesOf(response.text, limit);
          const link = nextLink(response);
          if (link === undefined) return { changes, next: changes.at(-1)?.cursor ?? after, more: false };
          // The address of the next page can be relative.
          const next = cursorOf(new URL(link, 'http://localhost').searchParams.get('after'));
          if (next === after) throw new Error(NO_PAGE);
          return { changes, next, more: true };
        };
        const call = { read, unserved: 404 };
        return await api.call('listChanges', `/changes?limit=${limit}${start}`, call, options);
      },
    },
    /**
     * Calls a deprecated operation, because no other operation reads one pet with its entity tag. Passes no operation name, so that
     * the user gets no deprecation warning.
     */
    findTagged(id, options) {
      const read = (response: ApiResponse) => taggedPetOf(response, id);
      return api.call(undefined, `/pets/${id}`, { read, isOfPet: true }, options);
    },
  };
}

/** Replaces each malformed entity tag with one that no pet has. A malformed tag could change the meaning of the header field. */
function ifMatchField(ifMatch: IfMatch): string {
  return ifMatch === '*' ? '*' : ifMatch.map((tag) => (ENTITY_TAG.test(tag) ? tag : NO_TAG)).join(', ');
}

function taggedPetOf({ headers, text }: ApiResponse, id: bigint): TaggedPet {
  const pet = storedPetFrom(parseJson(text));
  if (pet.id !== id) throw new Error(OTHER_PET);
  return { pet, etag: entityTag(headers.get('ETag')) };
}

/** Returns the entity tag without what a compressing proxy adds to it: `W/`, or a suffix such as `-gzip`. */
function entityTag(field: unknown): string {
  const tag = String(field)
    .replace(/^W\//, '')
    .replace(/^("[\w-]{43})-[a-z]+"$/, '$1"');
  if (!ENTITY_TAG.test(tag)) throw new Error('the response has no entity tag');
  return tag;
}

function changesOf(text: string, limit: number): readonly Change[] {
  const items = parseJson(text);
  if (!Array.isArray(items) || items.length > limit) throw new Error(NO_PAGE);
  return items.map((item) => {
    const { pet, etag, removed, ...members } = membersOf(item) ?? {};
    const cursor = cursorOf(members.cursor);
    if (typeof removed === 'bigint') return { cursor, removed };
    return { cursor, pet: storedPetFrom(pet), etag: entityTag(etag) };
  });
}

function cursorOf(value: unknown): string {
  if (typeof value === 'string' && CURSOR.test(value)) return value;
  throw new Error(NO_PAGE);
}
