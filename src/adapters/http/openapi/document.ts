/** Generates the OpenAPI 3.1 document from the schemas and the operations. */

import { OPERATIONS, type Operation } from '../api/operations.ts';
import { BASE_PATH, serverUrlOf } from '../api/public-url.ts';
import { apiDescription } from './description.ts';
import { COMPONENT_HEADERS } from './headers.ts';
import { parametersOf } from './parameters.ts';
import { NEW_PET_EXAMPLES, responsesOf } from './responses.ts';
import { componentSchemas, type Part, ref } from './schemas.ts';

/** The version of the HTTP interface. The npm package has its own version. */
const INTERFACE_VERSION = '1.0.0';

export interface OpenApiOptions {
  readonly operations?: readonly Operation[];
  /** The number of spaces per level of indentation. Default: 0, for a document on a single line. */
  readonly indent?: number;
}

/**
 * Returns the OpenAPI document as JSON. All integers are exact, even integers that a double cannot represent, such as
 * the maximum of int64.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 */
export function openApiDocument(
  origin: string,
  { operations = OPERATIONS, indent = 0 }: OpenApiOptions = {},
): string {
  const paths: Record<string, Record<string, Part>> = {};
  for (const operation of operations) {
    const path = operation.path.slice(BASE_PATH.length);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Animal Store',
      version: INTERFACE_VERSION,
      description: apiDescription(),
      contact: { name: 'The operator of this animal store' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrlOf(origin) }],
    tags: [{ name: 'pets', description: 'The pets in the store.' }],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key of this store.' },
      },
      schemas: componentSchemas(),
      headers: COMPONENT_HEADERS,
    },
  };
  return JSON.stringify(document, exact, indent);
}

function describe(operation: Operation): Part {
  const { id, summary, description, deprecated, stability } = operation;
  return {
    operationId: id,
    summary,
    description,
    tags: ['pets'],
    ...(deprecated && { deprecated }),
    ...(stability && { 'x-stability': stability }),
    parameters: parametersOf(id),
    ...(id === 'createPet' && { requestBody: newPetBody() }),
    responses: responsesOf(operation),
  };
}

function newPetBody(): Part {
  const schema = { $ref: ref('NewPet') };
  return { required: true, content: { 'application/json': { schema, examples: NEW_PET_EXAMPLES } } };
}

/**
 * Makes `JSON.stringify` write a text unchanged, such as a large integer. `JSON.rawJSON` exists in every supported
 * version of Node.js, but not yet in the types of TypeScript.
 */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

function exact(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}
