/** The operations of the API, and the methods of HTTP that they use. */

import type { HttpErrorCode } from './errors.ts';

/**
 * What is true of each operation with a method: the status of a success, whether it changes nothing, so that HEAD and a
 * read-only key may call it and its responses can be cached, and whether it has a body of JSON.
 */
export const METHODS = {
  GET: { success: 200, isRead: true, hasBody: false },
  POST: { success: 201, isRead: false, hasBody: true },
} as const;

export interface Operation {
  readonly id: 'listPets' | 'createPet' | 'getPet';
  readonly method: keyof typeof METHODS;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** In addition to those of its path. */
  readonly parameters?: readonly string[];
  /** `body` is the name of a schema, and `fields` are in addition to those of the method. */
  readonly success: {
    readonly description: string;
    readonly body?: 'Pet' | 'Pets';
    readonly fields?: readonly ('NextPage' | 'Location' | 'Idempotency-Replayed')[];
  };
  /** In addition to the error codes that every operation can return. */
  readonly errors: readonly HttpErrorCode[];
  readonly deprecated?: boolean;
  /** The stability level. Only an operation that can still change has a level. */
  readonly stability?: 'experimental' | 'beta';
}

export const DEPRECATED_SINCE: Date = new Date('2025-12-05T00:00:00Z');

/** The deprecated operation keeps working until a release removes it. */
export const SUNSET: Date = new Date('2030-12-05T00:00:00Z');

/** The routes and the OpenAPI document are generated from this array. */
export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listPets',
    method: 'GET',
    path: '/v1/pets',
    summary: 'List pets',
    description:
      'One page of pets, in ascending order of `id`. While more pets follow, the response has a `Link` with ' +
      '`rel="next"`. Following it visits every pet that existed at the start exactly once, even while pets are added.',
    parameters: ['limit', 'status', 'after'],
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
      fields: ['Location', 'Idempotency-Replayed'],
    },
    errors: ['forbidden', 'payload_too_large', 'unsupported_media_type', 'idempotency_conflict'],
  },
  {
    id: 'getPet',
    method: 'GET',
    path: '/v1/pets/{petId}',
    summary: 'Get a pet',
    description:
      `Deprecated, due for removal on ${SUNSET.toISOString().slice(0, 10)}. ` +
      'Use `GET /pets` instead: with a `status` filter, or for one pet with `after=<id - 1>&limit=1`, and compare its `id`.',
    success: { description: 'The pet.', body: 'Pet' },
    errors: ['not_found'],
    deprecated: true,
  },
];

/** Returns the methods of a server with these operations, in the order of `Allow`. HEAD is GET without the body. */
export function methodsOf(operations: readonly Operation[]): readonly string[] {
  const served = new Set<string>(operations.map(({ method }) => method));
  return [
    'GET',
    'HEAD',
    ...Object.keys(METHODS).filter((each) => each !== 'GET' && served.has(each)),
    'OPTIONS',
  ];
}
