/** The responses in the OpenAPI document, and the examples of pets. */

import { type HttpErrorCode, STATUS_OF } from '../src/adapters/http/errors.ts';
import { METHODS, type Operation } from '../src/adapters/http/operations.ts';
import { LIMIT_MAX, LIMIT_MIN } from '../src/application/list-pets.ts';
import { errorsOf, MESSAGES, OF_CHANGE, WHEN } from './errors.ts';
import { CHANGE, MINKA, NEW_MINKA, NEW_REX, NOT_REMOVED, REX } from './examples.ts';
import { headersOf } from './headers.ts';
import { json, type Part } from './schemas.ts';

/** Examples of the request body of `createPet`. The keys are the names of the examples. */
export const NEW_PET_EXAMPLES: Part = {
  required: { summary: 'Required members', value: NEW_REX },
  everything: { summary: 'All members', value: NEW_MINKA },
};

/** Examples of the request body of `changePet`. */
export const CHANGE_EXAMPLES: Part = { one: { summary: 'One attribute', value: CHANGE } };

const CURSOR = '0123456789abcdef';
const CHANGES: readonly Part[] = [
  { cursor: `${CURSOR}-1`, pet: REX, etag: '"HqmnUHkXkSh5zgGrtCvzFCAhEKqRn2ROnULVmmTVCcE"' },
  { cursor: `${CURSOR}-3`, removed: 2 },
];

type Body = NonNullable<Operation['success']['body']>;

/** The functions that return the examples of each response body. The keys of a result are the names of the examples. */
const EXAMPLES: Readonly<Record<Body, (method: Operation['method']) => Part>> = {
  Pet: (method) => {
    if (method === 'PATCH') return { changed: { value: { ...REX, ...CHANGE } } };
    return { [METHODS[method].isRead ? 'found' : 'created']: { value: REX } };
  },
  Pets: () => ({ page: { value: [REX, MINKA] }, empty: { value: [] } }),
  Changes: () => ({ page: { value: CHANGES }, empty: { value: [] } }),
};

/** Returns the texts of an error that apply only to changes and removals, if there are any. */
function ofChange({ parameters }: Operation, code: HttpErrorCode) {
  return parameters?.includes('If-Match') ? OF_CHANGE[code] : undefined;
}

function whenOf(operation: Operation, code: HttpErrorCode): string {
  return ofChange(operation, code)?.when ?? WHEN[code];
}

/** Returns an example of the message of an error. For `invalid_request`, the message depends on the inputs of the operation. */
function messageOf(operation: Operation, code: HttpErrorCode): string {
  const { method, parameters } = operation;
  if (method === 'PATCH' && code === 'invalid_request') return NOT_REMOVED;
  const message = ofChange(operation, code)?.message;
  if (message !== undefined) return message;
  if (code !== 'invalid_request' || METHODS[method].hasBody) return MESSAGES[code];
  if (!parameters?.includes('limit')) return 'Host must be given once';
  return `limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`;
}

/** Describes all responses of an operation. The keys of the result are the statuses. */
export function responsesOf(operation: Operation): Part {
  const { body, description } = operation.success;
  const content = body && json(body, EXAMPLES[body](operation.method));
  const { success, isRead } = METHODS[operation.method];
  const headers = headersOf(operation, success);
  const responses: Record<string, Part> = { [success]: { description, headers, content } };
  if (isRead) {
    responses[304] = { description: 'The representation that the client has is current.', headers };
  }
  const errors = Object.groupBy(errorsOf(operation), (code) => STATUS_OF[code]);
  for (const [status, codes = []] of Object.entries(errors)) {
    responses[status] = describeErrors(operation, Number(status), codes);
  }
  return responses;
}

/** Describes the response with this status. Its body is one of the errors that have the status. */
function describeErrors(operation: Operation, status: number, codes: readonly HttpErrorCode[]): Part {
  const examples = codes.map((code) => {
    return [
      code,
      { summary: whenOf(operation, code), value: { code, message: messageOf(operation, code), status } },
    ];
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${whenOf(operation, code)}`).join(' '),
    headers: headersOf(operation, status),
    content: json('Error', Object.fromEntries(examples)),
  };
}
