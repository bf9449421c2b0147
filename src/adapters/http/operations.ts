/** The operations of the API, and the methods of HTTP that they use. */

import { PET_FILTERS } from '../../domain/pet-filter.ts';
import type { HttpErrorCode } from './errors.ts';
import type { OperationLifecycle } from './operation-lifecycle.ts';

/**
 * The properties of the operations, by method: the status of a success, and whether requests have a JSON body. Operations with
 * `isRead` change nothing. They can be called with HEAD or with a read-only key, and their responses can be cached.
 */
export const METHODS = {
  GET: { success: 200, isRead: true, hasBody: false },
  POST: { success: 201, isRead: false, hasBody: true },
  PATCH: { success: 200, isRead: false, hasBody: true },
  DELETE: { success: 204, isRead: false, hasBody: false },
} as const;

type SuccessField = 'NextPage' | 'NextChanges' | 'Location' | 'Idempotency-Replayed' | 'Replayed' | 'PetTag';

export interface Operation extends OperationLifecycle {
  readonly id: 'listPets' | 'createPet' | 'getPet' | 'changePet' | 'removePet' | 'listChanges';
  readonly method: keyof typeof METHODS;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The parameters in addition to those of the path. */
  readonly parameters?: readonly string[];
  /** `body` is the name of a schema. `fields` are the header fields in addition to those of the method. */
  readonly success: {
    readonly description: string;
    readonly body?: 'Pet' | 'Pets' | 'Changes';
    readonly fields?: readonly SuccessField[];
  };
  /** The error codes in addition to those of the method and those that all operations share. */
  readonly errors: readonly HttpErrorCode[];
}

/** The routes and the OpenAPI document are generated from this array. */
export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listPets',
    method: 'GET',
    path: '/v1/pets',
    summary: 'List pets',
    description:
      'One page of pets, in ascending order of `id`. While more pets follow, the response has a `Link` with ' +
      '`rel="next"`. Following it visits each pet that existed at the start exactly once, unless the pet is removed meanwhile.',
    parameters: ['limit', ...PET_FILTERS, 'after'],
    success: { description: 'A page of pets.', body: 'Pets', fields: ['NextPage'] },
    errors: [],
  },
  {
    id: 'createPet',
    method: 'POST',
    path: '/v1/pets',
    summary: 'Create a pet',
    description:
      'Stores a pet and assigns its `id`. The response is sent once the pet is durable. A request that is repeated ' +
      'with the same `Idempotency-Key` and the same pet gets the first response again, for 24 hours or longer.',
    parameters: ['Idempotency-Key'],
    success: {
      description: 'The pet was created.',
      body: 'Pet',
      fields: ['Location', 'Idempotency-Replayed', 'PetTag'],
    },
    errors: ['idempotency_conflict'],
  },
  {
    id: 'getPet',
    method: 'GET',
    path: '/v1/pets/{petId}',
    summary: 'Get a pet',
    description: 'The pet with this `id`.',
    success: { description: 'The pet.', body: 'Pet' },
    errors: ['not_found'],
  },
  {
    id: 'changePet',
    method: 'PATCH',
    path: '/v1/pets/{petId}',
    summary: 'Change a pet',
    description:
      'Changes attributes of a pet: a JSON merge patch (RFC 7396). An attribute that is absent stays as it is. ' +
      '`If-Match` names the version that the change is for, by the `ETag` of a response with this pet. The response is ' +
      'sent once the change is durable. A request that is repeated with the same `Idempotency-Key` gets the first response again.',
    parameters: ['If-Match', 'ChangeKey'],
    success: { description: 'The changed pet.', body: 'Pet', fields: ['PetTag', 'Replayed'] },
    errors: [
      'not_found',
      'invalid_transition',
      'precondition_failed',
      'idempotency_conflict',
      'precondition_required',
    ],
  },
  {
    id: 'removePet',
    method: 'DELETE',
    path: '/v1/pets/{petId}',
    summary: 'Remove a pet',
    description:
      'Removes a pet. `If-Match` names the version that the removal is for. The removal of a pet that was removed before succeeds, ' +
      'whatever version it names. Only a pet that never existed is not found.',
    parameters: ['If-Match', 'ChangeKey'],
    success: { description: 'The pet was removed, now or before.', fields: ['Replayed'] },
    errors: ['not_found', 'precondition_failed', 'idempotency_conflict', 'precondition_required'],
  },
  {
    id: 'listChanges',
    method: 'GET',
    path: '/v1/changes',
    summary: 'List changes',
    description:
      'The newest state of each pet, in the order of all writes: created and changed pets, and the ids of removed ones. A client that ' +
      'applies them to a copy, and goes on after the last `cursor`, has an exact copy. While more follow, the response has a `Link` ' +
      'with `rel="next"`; such a page can be empty.',
    parameters: ['limit', 'cursor'],
    success: { description: 'A page of changes.', body: 'Changes', fields: ['NextChanges'] },
    errors: ['restart_required'],
  },
];

/** Returns the methods of a server with these operations, in the order of `Allow`. Every server has GET, HEAD and OPTIONS. */
export function methodsOf(operations: readonly Operation[]): readonly string[] {
  const served = new Set<string>(operations.map(({ method }) => method));
  const others = Object.keys(METHODS).filter((each) => each !== 'GET' && served.has(each));
  return ['GET', 'HEAD', ...others, 'OPTIONS'];
}
