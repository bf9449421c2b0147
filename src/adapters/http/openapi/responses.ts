/** The responses in the OpenAPI document, with their header fields and examples. */

import { type HttpErrorCode, STATUS_OF } from '../api/errors.ts';
import type { Operation } from '../api/operations.ts';
import { COMMON_ERRORS, FAILURES } from './failures.ts';
import { type HeaderName, headersOf, optionalHeadersOf } from './headers.ts';
import { type Part, ref, type SchemaName } from './schemas.ts';

/**
 * The smallest positive integer that a double cannot represent: 2^53 + 1. A client that rounds large integers shows
 * another value in the example.
 */
const LARGE_ID = 9_007_199_254_740_993n;

/** Examples of the request body of `createPet`. The keys are the names of the examples. */
export const NEW_PET_EXAMPLES: Readonly<Record<string, { summary: string; value: Part }>> = {
  required: { summary: 'Required members', value: { name: 'Rex', categoryId: 7 } },
  everything: {
    summary: 'All members',
    value: { name: 'Минька 🐈', categoryId: LARGE_ID, status: 'pending' },
  },
};

const REX = { id: 1, name: 'Rex', categoryId: 7, status: 'available' };
const MINKA = { id: 2, ...NEW_PET_EXAMPLES['everything']?.value };

const HEADERS_OF_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  415: ['Accept'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/**
 * The statuses of errors that the server can detect before it knows the path of the request. Such a response can lack
 * the header fields that depend on the path.
 */
const BEFORE_ROUTING: readonly number[] = [400, 408, 431];

/**
 * The example message of `invalid_request`, for operations that check input of their own. For other operations, the
 * message is in {@link FAILURES}.
 */
const BROKEN_RULES: Readonly<Partial<Record<Operation['id'], string>>> = {
  listPets: 'limit must be an integer from 1 to 100',
  createPet: 'categoryId is required',
};

const EVERY_RESPONSE = ['X-Request-Id', 'Cache-Control'] as const;
const DEPRECATION = ['Deprecation', 'Sunset', 'Successor'] as const;

/** Describes all responses of an operation. The keys of the result are the statuses. */
export function responsesOf(operation: Operation): Part {
  const codes = [...COMMON_ERRORS, ...operation.errors].sort((a, b) => STATUS_OF[a] - STATUS_OF[b]);
  const failures = [...new Set(codes.map((code) => STATUS_OF[code]))].map((status) => {
    const ofStatus = codes.filter((code) => STATUS_OF[code] === status);
    return [status, failure(operation, status, ofStatus)];
  });
  return { ...successes(operation), ...Object.fromEntries(failures) };
}

function successes({ id, deprecated }: Operation): Part {
  const headers = headersOf(...EVERY_RESPONSE, 'ETag', ...(deprecated ? DEPRECATION : []));
  const notModified = 'The representation that the client has is current.';
  switch (id) {
    case 'listPets': {
      const paged = { ...headers, ...headersOf('NextPage') };
      const content = json('Pets', { page: { value: [REX, MINKA] }, empty: { value: [] } });
      return {
        200: { description: 'A page of pets.', headers: paged, content },
        304: { description: notModified, headers: paged },
      };
    }
    case 'createPet': {
      const content = json('Pet', { created: { value: REX } });
      const headers = headersOf(...EVERY_RESPONSE, 'Location', 'Idempotency-Replayed');
      return { 201: { description: 'The pet was created.', headers, content } };
    }
    case 'getPet': {
      const content = json('Pet', { found: { value: REX } });
      return {
        200: { description: 'The pet.', headers, content },
        304: { description: notModified, headers },
      };
    }
  }
}

function failure({ id, deprecated }: Operation, status: number, codes: readonly HttpErrorCode[]): Part {
  const examples = codes.map((code) => {
    const broken = code === 'invalid_request' ? BROKEN_RULES[id] : undefined;
    return [code, { value: { code, message: broken ?? FAILURES[code].message, status } }];
  });
  const ofDeprecation = BEFORE_ROUTING.includes(status) ? optionalHeadersOf : headersOf;
  const headers = {
    ...headersOf(...EVERY_RESPONSE, ...(HEADERS_OF_STATUS[status] ?? [])),
    ...(deprecated && status !== 401 && ofDeprecation(...DEPRECATION)),
  };
  const description = codes.map((code) => `\`${code}\`: ${FAILURES[code].when}`).join(' ');
  return { description, headers, content: json('Error', Object.fromEntries(examples)) };
}

function json(schema: SchemaName, examples: Part): Part {
  return { 'application/json': { schema: { $ref: ref(schema) }, examples } };
}
