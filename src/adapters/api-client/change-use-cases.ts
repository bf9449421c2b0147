import type { Change, ChangeUseCases, TaggedPet } from '../../application/change-calls.ts';
import type { IfMatch } from '../../application/entity-tag.ts';
import { LIMIT_DEFAULT, limitFault } from '../../application/list-pets.ts';
import type { CallOptions } from '../../application/ports/pet-repository.ts';
import type { Caller } from '../../application/versioned-writes.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { idempotencyKey } from '../../domain/idempotency-key.ts';
import { membersReader, parseJson } from '../../domain/json.ts';
import { PET_ATTRIBUTES } from '../../domain/pet.ts';
import { petChange } from '../../domain/pet-change.ts';
import { petChangeJson, storedPetFrom } from '../../domain/pet-json.ts';
import { type ApiResponse, unreadable } from './errors.ts';
import { nextLink } from './pages.ts';
import type { ApiRequest, Send } from './request.ts';
import { type ApiWriter, isReplay } from './writer.ts';

const CURSOR = /^[\x21-\x7e]{1,64}$/;
const ENTITY_TAG = /^"[\x21\x23-\x7e]*"$/;
/** No pet has this entity tag. */
const NO_TAG = '""';

const OTHER_PET = 'the response has another pet';
const NO_PAGE = 'the response is not the page of changes that was requested';

const membersOf = membersReader(['cursor', 'pet', 'etag', 'removed']);

/** The use cases of changes at a server. */
export function apiChangeUseCases(base: string, send: Send, writer: ApiWriter): ChangeUseCases {
  const write = <T>(
    operation: string,
    id: bigint,
    ifMatch: IfMatch,
    caller: Caller | undefined,
    { headers, ...request }: ApiRequest,
    read: (response: ApiResponse) => T,
    options: CallOptions | undefined,
  ): Promise<T> => {
    idempotencyKey(caller?.key ?? '-');
    const fields = { ...headers, 'If-Match': ifMatchField(ifMatch) };
    const change = {
      ...request,
      headers: fields,
      write: 'change',
      caller,
      isOfPet: true,
      unserved: 405,
    } as const;
    return writer.send(operation, `/pets/${id}`, change, read, options);
  };
  return {
    changePet: {
      async execute(id, input, ifMatch, caller, options) {
        const change = petChange(input);
        const request = {
          method: 'PATCH',
          accepted: [200],
          headers: { 'Content-Type': 'application/merge-patch+json' },
          body: petChangeJson(change),
        };
        const read = (response: ApiResponse) => {
          const { pet, etag } = taggedPetOf(response, id);
          const isChanged = PET_ATTRIBUTES.every((name) => {
            const value = change[name];
            return value === undefined || value === (pet[name] ?? null);
          });
          if (!isChanged) throw new Error(OTHER_PET);
          return { pet, etag, isReplay: isReplay(response) };
        };
        return await write('changePet', id, ifMatch, caller, request, read, options);
      },
    },
    removePet: {
      async execute(id, ifMatch, caller, options) {
        const request = { method: 'DELETE', accepted: [204] };
        const read = (response: ApiResponse) => ({ isReplay: isReplay(response) });
        return await write('removePet', id, ifMatch, caller, request, read, options);
      },
    },
    listChanges: {
      async execute({ after, limit = LIMIT_DEFAULT } = {}, options) {
        const isCursor = after === undefined || (typeof after === 'string' && CURSOR.test(after));
        const fault = limitFault(limit) ?? (isCursor ? undefined : 'after must be a cursor of a change');
        if (fault !== undefined) throw invalidRequest(fault);
        const start = after === undefined ? '' : `&after=${encodeURIComponent(after)}`;
        const url = `${base}/changes?limit=${limit}${start}`;
        const { headers, text } = await send('listChanges', url, { accepted: [200], unserved: 404 }, options);
        try {
          const changes = changesOf(text, limit);
          const link = nextLink(headers);
          const more = link !== undefined;
          const next = more ? nextCursor(link, url) : (changes.at(-1)?.cursor ?? after);
          if (more && next === after) throw new Error(NO_PAGE);
          return { changes, next, more };
        } catch (error) {
          throw unreadable(base, error);
        }
      },
    },
    /** Reports no deprecation of the operation, because no other one has the entity tag of one pet. */
    async findTagged(id, options) {
      const request = { accepted: [200], isOfPet: true };
      const response = await send(undefined, `${base}/pets/${id}`, request, options);
      try {
        return taggedPetOf(response, id);
      } catch (error) {
        throw unreadable(base, error);
      }
    },
  };
}

/** A malformed entity tag matches nothing, but must not become a field of its own. */
function ifMatchField(ifMatch: IfMatch): string {
  return ifMatch === '*' ? '*' : ifMatch.map((tag) => (ENTITY_TAG.test(tag) ? tag : NO_TAG)).join(', ');
}

function taggedPetOf({ headers, text }: ApiResponse, id: bigint): TaggedPet {
  const pet = storedPetFrom(parseJson(text));
  if (pet.id !== id) throw new Error(OTHER_PET);
  return { pet, etag: entityTag(headers.get('ETag')) };
}

/** A proxy that compresses a response makes its entity tag a weak one. */
function entityTag(field: unknown): string {
  const tag = String(field).replace(/^W\//, '');
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

function nextCursor(link: string, url: string): string {
  return cursorOf(new URL(link, url).searchParams.get('after'));
}

function cursorOf(value: unknown): string {
  if (typeof value === 'string' && CURSOR.test(value)) return value;
  throw new Error(NO_PAGE);
}
