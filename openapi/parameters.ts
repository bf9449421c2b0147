/** The parameters in the OpenAPI document. */

import type { Operation } from '../src/adapters/http/operations.ts';
import { INT64_METADATA } from '../src/adapters/http/schemas.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../src/application/create-pet.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../src/domain/idempotency-key.ts';
import { PET_FILTERS } from '../src/domain/pet-filter.ts';
import { type Part, QUERY_SCHEMAS } from './schemas.ts';

const KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: IDEMPOTENCY_KEY_MAX_LENGTH,
  pattern: `^[!-~]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`,
};

const PARAMETERS: readonly Part[] = [
  {
    name: 'petId',
    in: 'path',
    required: true,
    description: 'The id of the pet.',
    schema: INT64_METADATA,
    example: 1,
  },
  ...Object.entries(QUERY_SCHEMAS).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: PET_FILTERS.some((each) => each === name) ? `Only pets with this ${name}.` : description,
    schema,
  })),
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of your choice, such as a UUID. Repeat a request that got no response with the same key: the pet is ' +
      `created once. A key is valid for ${IDEMPOTENCY_DAYS * 24} hours, or longer, up to ${IDEMPOTENCY_DAYS_MAX} days, where the operator of ` +
      'the server has set it. Each caller has its own idempotency keys, and keeps them when its API key is rotated.',
    schema: KEY_SCHEMA,
  },
];

/** The parameters of changes, removals and the feed of changes. The keys are the names that operations use. */
const CHANGE_PARAMETERS: Readonly<Record<string, Part>> = {
  cursor: {
    name: 'after',
    in: 'query',
    required: false,
    description:
      'The `cursor` of the last change that was seen: the page starts after it. The URL in `Link` contains one.',
    schema: { type: 'string', maxLength: 64 },
  },
  ChangeKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of your choice, such as a UUID. Repeat a request that got no response with the same key: it has its effect once. ' +
      'Creates, changes and removals share the keys, which are valid as long as that of a create.',
    schema: KEY_SCHEMA,
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: true,
    description:
      'The `ETag` of a POST, a PATCH or `GET /pets/{petId}`, or the `etag` in a change (RFC 9110, 13.1.1): the request has an ' +
      'effect only if the pet has not changed since. Or `*` for any version. The `ETag` of a list never matches.',
    schema: { type: 'string' },
    example: '*',
  },
};

/** Describes the parameters of an operation, in its path, its query and its header fields. */
export function parametersOf({ path, parameters = [] }: Operation): readonly Part[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).concat(parameters);
  return names.map((name) => {
    const parameter = CHANGE_PARAMETERS[name ?? ''] ?? PARAMETERS.find((each) => each['name'] === name);
    if (parameter === undefined) throw new Error(`the parameter ${name} has no description`);
    return parameter;
  });
}
