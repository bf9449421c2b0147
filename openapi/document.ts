/** Generates the OpenAPI 3.1 document from the operations, the limits of the API, and the schemas that validate requests. */

import { PATCH_TYPE } from '../src/adapters/http/body.ts';
import { servedOperations } from '../src/adapters/http/lifecycle.ts';
import { METHODS, type Operation } from '../src/adapters/http/operations.ts';
import { BASE_PATH } from '../src/adapters/http/paths.ts';
import { isAlwaysStored, PET_ATTRIBUTES } from '../src/domain/pet.ts';
import { apiDescription } from './description.ts';
import { errorCodesOf } from './errors.ts';
import { componentHeaders } from './headers.ts';
import { lifecycleOf } from './lifecycle.ts';
import { parametersOf } from './parameters.ts';
import { CHANGE_EXAMPLES, NEW_PET_EXAMPLES, responsesOf } from './responses.ts';
import { componentSchemas, json, type Part } from './schemas.ts';

/**
 * Returns the OpenAPI document as JSON. The URL of the server is `/v1`. All integers are exact, even integers that a double cannot
 * represent, such as the maximum of int64.
 */
export function generateDocument(operations: readonly Operation[] = servedOperations()): string {
  const paths: Record<string, Record<string, Part>> = {};
  for (const operation of operations) {
    const path = operation.path.slice(BASE_PATH.length);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const hasChanges = operations.some(({ id }) => id === 'changePet');
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Animal Store',
      // The version of the HTTP interface. The npm package has its own version.
      version: '1.0.0',
      description: apiDescription(hasChanges),
      contact: { name: 'The operator of this animal store' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: BASE_PATH }],
    tags: [{ name: 'pets', description: 'The pets in the store.' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key of this store.' },
      },
      schemas: componentSchemas(errorCodesOf(operations), hasChanges),
      headers: componentHeaders(hasChanges),
    },
  };
  return exactJson(document, 2);
}

/** Describes an operation. `JSON.stringify` leaves out the members that are `undefined`. */
function describe(operation: Operation): Part {
  const { id, method, summary, description } = operation;
  const canRemove = method === 'PATCH' && !PET_ATTRIBUTES.every(isAlwaysStored);
  return {
    operationId: id,
    summary,
    description: canRemove ? `${description} \`null\` removes an optional attribute.` : description,
    tags: ['pets'],
    ...lifecycleOf(operation),
    parameters: parametersOf(operation),
    requestBody: METHODS[method].hasBody ? { required: true, content: bodyOf(method) } : undefined,
    responses: responsesOf(operation),
  };
}

/** A change can be sent as a merge patch or as plain JSON. */
function bodyOf(method: Operation['method']): Part {
  if (method !== 'PATCH') return json('NewPet', NEW_PET_EXAMPLES);
  const types = [PATCH_TYPE, undefined].map((type) => json('PetChange', CHANGE_EXAMPLES, type));
  return Object.assign({}, ...types) as Part;
}

/** `JSON.rawJSON` exists in every supported version of Node.js, but not yet in the types of TypeScript. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns a value as JSON, in which each `bigint` is an exact integer. */
export function exactJson(value: unknown, indent = 0): string {
  const exact = (_key: string, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member;
  return JSON.stringify(value, exact, indent);
}
