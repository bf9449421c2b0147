/** The parameters in the OpenAPI document. */

import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../../../domain/idempotency-key.ts';
import type { Operation } from '../api/operations.ts';
import { INT64_METADATA } from '../api/schemas.ts';
import { type Part, queryParameterSchemas } from './schemas.ts';

const IDEMPOTENCY_KEY: Part = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A key of your choice, such as a UUID. Repeat a request that got no response with the same key: the pet is created ' +
    'once. Each API key has its own idempotency keys, also after a rotation.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_MAX_LENGTH,
    pattern: `^[!-~]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`,
  },
};

/** Describes the parameters of an operation, in its path, its query and its header fields. */
export function parametersOf(id: Operation['id']): readonly Part[] {
  if (id === 'getPet') {
    const description = 'The id of the pet.';
    return [
      {
        name: 'petId',
        in: 'path',
        required: true,
        description,
        schema: INT64_METADATA,
        example: 1,
      },
    ];
  }
  if (id === 'createPet') return [IDEMPOTENCY_KEY];
  const descriptions: Readonly<Record<string, string>> = { status: 'Only pets with this status.' };
  return Object.entries(queryParameterSchemas()).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: description ?? descriptions[name],
    schema,
  }));
}
