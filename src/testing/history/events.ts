/** The calls that a history records. */

import { listQuery, type PetPageQuery } from '../../application/list-pets.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { labelOf } from '../fixtures/pets.ts';

/** The positions of the start and the end of a call, in the sequence of the starts and ends of all calls. */
export interface CallTime {
  readonly call: number;
  /** `Infinity` while the call has not returned. */
  readonly end: number;
}

interface Call extends CallTime {
  readonly client: string;
}

/** What the client knows of a create that returned no pet. `conflict`: the idempotency key was used for another pet. */
export type CreateFailure = 'conflict' | 'refused' | 'unknown';

export interface CreateEvent extends Call {
  readonly kind: 'create';
  readonly pet: NewPet;
  readonly key: string | undefined;
  /** The pet that the create returned, or the reason why it returned none. */
  readonly result: Pet | CreateFailure;
}

export interface GetEvent extends Call {
  readonly kind: 'get';
  readonly id: bigint;
  readonly result: Pet | undefined;
}

export interface ListEvent extends Call {
  readonly kind: 'list';
  readonly query: PetPageQuery & { readonly limit: number };
  readonly result: PetPage;
}

export type PetEvent = CreateEvent | GetEvent | ListEvent;

/** A verification or a change of an API key. `calledAt` and `endedAt` are times of the same clock, in milliseconds. */
export interface KeyEvent extends Call {
  readonly kind: 'create key' | 'revoke key' | 'verify key';
  readonly keyId: string;
  readonly calledAt: number;
  readonly endedAt: number;
  /** Whether the key was accepted, for `verify key`. */
  readonly isAccepted?: boolean | undefined;
}

/** Names an event for a message, such as `list limit=20 after=1496 (client 2)`. */
export function described(event: PetEvent | KeyEvent): string {
  return `${words(event)} (${event.client})`;
}

function words(event: PetEvent | KeyEvent): string {
  switch (event.kind) {
    case 'create':
      return `create '${labelOf(event.pet)}'${event.key === undefined ? '' : ` key=${event.key}`}`;
    case 'get':
      return `get ${event.id}`;
    case 'list':
      return `list ${listQuery(event.query as PetQuery).replaceAll('&', ' ')}`;
    default:
      return `${event.kind} ${event.keyId}`;
  }
}
