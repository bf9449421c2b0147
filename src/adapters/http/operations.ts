/** The operations of the API, as the specification's section 4 has them. Routes and documents follow this table. */

import { SUNSET } from './deprecation.ts';
import type { HttpErrorCode } from './errors.ts';

export type Stability = 'experimental' | 'beta';

export interface Operation {
  readonly id: 'listPets' | 'createPet' | 'getPet';
  readonly method: 'GET' | 'POST';
  /** The path's template below the server's root. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** How it fails beyond {@link COMMON_ERRORS}. */
  readonly errors: readonly HttpErrorCode[];
  readonly deprecated?: boolean;
  /** Marks an operation that may still change (specification, section 9). */
  readonly stability?: Stability;
}

/** How any operation can fail. */
export const COMMON_ERRORS: readonly HttpErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'overloaded',
  'storage_unavailable',
];

export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listPets',
    method: 'GET',
    path: '/v1/pets',
    summary: 'List all animals',
    description:
      'One page of animals, in ascending order of `id`. While more follow, the answer has a `Link` with `rel="next"`: ' +
      'every animal that existed when such a walk began is seen exactly once, whatever is added meanwhile.',
    errors: [],
  },
  {
    id: 'createPet',
    method: 'POST',
    path: '/v1/pets',
    summary: 'Add an animal',
    description: 'Stores an animal and gives it its `id`. The answer comes when the animal is durable.',
    errors: ['payload_too_large', 'unsupported_media_type'],
  },
  {
    id: 'getPet',
    method: 'GET',
    path: '/v1/pets/{petId}',
    summary: 'Get an animal',
    description:
      `Deprecated, and to be removed on ${SUNSET.toISOString().slice(0, 10)}. ` +
      'Use `GET /pets` with a `status` filter in its place.',
    errors: ['not_found'],
    deprecated: true,
  },
];
