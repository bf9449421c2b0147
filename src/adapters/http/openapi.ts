/** The OpenAPI 3.1 document, made from the schemas and the table of operations. */

import { answersOf, NEW_PET_EXAMPLES } from './openapi-answers.ts';
import { COMPONENT_HEADERS } from './openapi-headers.ts';
import { componentSchemas, type Part, queryParameterSchemas, ref } from './openapi-schemas.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { INT64_METADATA } from './schemas.ts';

/** The version of the interface (specification, section 9), not of the package. */
const INTERFACE_VERSION = '1.0.0';

/** The segment at the end of the base address; the document's paths are below it. */
const BASE_PATH = '/v1';

const DESCRIPTION = `A store that holds animals.

- **Keys.** Every operation needs an API key: \`Authorization: Bearer <API_KEY>\`.
- **Exact integers.** \`id\` and \`categoryId\` are int64 and exact in every answer. A client whose JSON parser makes doubles of them rounds what is beyond 2^53.
- **Pages.** The body of a list is a bare array. While more animals follow, \`Link\` has the next page; \`limit\` and \`status\` are kept in it.
- **Errors.** Every error is \`application/json\` with \`code\`, \`message\` and \`status\`, also for a path that does not exist (404) and a method that a path does not have (405).
- **Reading again.** A GET has an \`ETag\`; with \`If-None-Match\` the answer is 304 while it stands. HEAD is answered as GET without its body.`;

export interface OpenApiOptions {
  readonly operations?: readonly Operation[];
  /** Spaces per level; none means one line. */
  readonly indent?: number;
}

/**
 * The document as JSON. Integers that a double cannot hold, such as the bounds of int64, are written digit for digit.
 *
 * @param origin the address that clients use, such as `https://pets.example.org`, with or without `/v1` at its end;
 *   empty for the one that the document comes from
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
      description: DESCRIPTION,
      contact: { name: 'Whoever runs this animal store' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrlOf(origin) }],
    tags: [{ name: 'pets', description: 'The animals in the store.' }],
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

/** The base address: with the version segment at its end. */
export function serverUrlOf(origin: string): string {
  return origin.endsWith(BASE_PATH) ? origin : origin + BASE_PATH;
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
    ...(id === 'createPet' ? { requestBody: newPetBody() } : { parameters: parametersOf(id) }),
    responses: answersOf(operation),
  };
}

function newPetBody(): Part {
  const schema = { $ref: ref('NewPet') };
  return { required: true, content: { 'application/json': { schema, examples: NEW_PET_EXAMPLES } } };
}

function parametersOf(id: Operation['id']): readonly Part[] {
  if (id === 'getPet') {
    const description = 'The identifier of the animal.';
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
  const descriptions: Readonly<Record<string, string>> = { status: 'Only animals in this state.' };
  return Object.entries(queryParameterSchemas()).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description: description ?? descriptions[name],
    schema,
  }));
}

/** `JSON.rawJSON` is in every Node.js that runs this, and not yet in TypeScript's library. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

function exact(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}
