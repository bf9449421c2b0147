/** What requests contain: Valibot checks the types, and the OpenAPI document is derived from its schemas. */

import * as v from 'valibot';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../application/list-pets.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import type { Attribute } from '../../domain/attribute.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../domain/int64.ts';
import { type Members, memberReader } from '../../domain/json.ts';
import {
  ATTRIBUTES,
  attributeFault,
  type NewPet as NewPetAttributes,
  type NewPetInput,
  PET_ATTRIBUTES,
  PET_STATUSES,
} from '../../domain/pet.ts';

const PetStatus = v.picklist(PET_STATUSES, `status must be one of ${PET_STATUSES.join(', ')}`);

/** In JSON, every integer is read as a `bigint`. Valibot can derive no JSON Schema from it, so that is in the metadata. */
const Integer = v.custom<bigint>((value) => typeof value === 'bigint');

export const INT64_METADATA: Readonly<Record<string, unknown>> = {
  type: 'integer',
  format: 'int64',
  minimum: INT64_MIN,
  maximum: INT64_MAX,
};

/** The types of the attributes. Their rules are those of the domain. */
const NewPet = v.object(
  Object.fromEntries(
    PET_ATTRIBUTES.map((name) => {
      const schema = attributeSchema(ATTRIBUTES[name]);
      return [name, ATTRIBUTES[name].isRequired ? schema : v.optional(schema)];
    }),
  ),
);

function attributeSchema(attribute: Attribute): v.GenericSchema {
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      const description = `${attribute.description} It has ${minLength} to ${maxLength} Unicode code points, is well-formed, and does not contain U+0000.`;
      return v.pipe(v.string(), v.metadata({ description, minLength, maxLength, pattern: '^[^\\x00]*$' }));
    }
    case 'one of':
      return attribute.values === PET_STATUSES ? PetStatus : v.picklist(attribute.values);
    default: {
      const { min, max } = attribute;
      const format = attribute.kind === 'int64' ? { format: 'int64' } : {};
      const description = `${attribute.description} From ${min} to ${max}.`;
      return v.pipe(
        Integer,
        v.metadata({ type: 'integer', ...format, minimum: min, maximum: max, description }),
      );
    }
  }
}

const ListQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.string(),
      v.metadata({
        type: 'integer',
        minimum: LIMIT_MIN,
        maximum: LIMIT_MAX,
        description: 'The maximum number of pets in the response.',
      }),
      v.transform((text) => Number(parseInt64(text) ?? Number.NaN)),
      v.check(
        (limit) => limit >= LIMIT_MIN && limit <= LIMIT_MAX,
        `limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`,
      ),
    ),
    String(LIMIT_DEFAULT),
  ),
  status: v.optional(PetStatus),
  after: v.optional(
    v.pipe(
      v.string(),
      v.metadata({
        ...INT64_METADATA,
        description:
          'The `id` of the last pet of the page before: the page starts after it. The URL in `Link` contains it.',
      }),
      v.transform(parseInt64),
      v.bigint(`after must be an integer from ${INT64_MIN} to ${INT64_MAX}`),
    ),
  ),
});

export const REQUEST_SCHEMAS: Readonly<Record<'PetStatus' | 'NewPet' | 'ListQuery', v.GenericSchema>> = {
  PetStatus,
  NewPet,
  ListQuery,
};

/** Reads the members of a request body that {@link readNewPet} validates. */
export const newPetMembers: (text: string) => Members<keyof NewPetInput> = memberReader(PET_ATTRIBUTES);

export function readNewPet(body: ReturnType<typeof newPetMembers>): NewPetInput {
  if (body === undefined) throw invalidRequest('the body must be a JSON object');
  const { success, output } = v.safeParse(NewPet, body);
  if (success) return output as Partial<NewPetInput> as NewPetInput;
  // The response must name every fault, but the store, which checks the rules, is not called for an invalid body.
  const faults = PET_ATTRIBUTES.map((name) => attributeFault(name, comparable(name, body[name])));
  throw invalidRequest(faults.filter((fault) => fault !== undefined).join('; '));
}

/** Replaces what is no integer by one out of range, so that the message is about JSON, and not about types of JavaScript. */
function comparable(name: keyof NewPetAttributes, value: unknown): unknown {
  const isInteger = ['int64', 'integer'].includes(ATTRIBUTES[name].kind);
  return isInteger && value !== undefined && typeof value !== 'bigint' ? INT64_MAX + 1n : value;
}

/** The maximum number of query strings whose parsed query is cached. */
const CACHE_LIMIT = 1000;

/** Creates a function that parses query strings. While the result is cached, an equal query string has the same object. */
export function listQueryReader(): (queryString: string) => PetQuery {
  const queries = new Map<string, PetQuery>();
  return (queryString) => {
    const cached = queries.get(queryString);
    if (cached !== undefined) return cached;
    const { success, output, issues } = v.safeParse(ListQuery, parametersOf(queryString));
    if (!success) throw invalidRequest(issues.map(({ message }) => message).join('; '));
    const query = Object.freeze(output);
    if (queries.size >= CACHE_LIMIT) queries.clear();
    queries.set(queryString, query);
    return query;
  };
}

function parametersOf(queryString: string): Record<string, string> {
  const parameters = new URLSearchParams(queryString);
  const values: Record<string, string> = {};
  for (const name of Object.keys(ListQuery.entries)) {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw invalidRequest(`${name} must be given once`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
