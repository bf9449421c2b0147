import * as v from 'valibot';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../application/list-pets.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import type { Attribute } from '../../domain/attribute.ts';
import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
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

const int64Rule = `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
const limitRule = `limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`;
const statusRule = `status must be one of ${PET_STATUSES.join(', ')}`;

/** Valibot cannot derive this JSON Schema from a Valibot schema. */
export const INT64_METADATA: Readonly<Record<string, unknown>> = {
  type: 'integer',
  format: 'int64',
  minimum: INT64_MIN,
  maximum: INT64_MAX,
};

const PetStatus = v.picklist(PET_STATUSES, statusRule);

/** The types of the attributes, from which the OpenAPI document is generated. Their rules are those of the domain. */
const ATTRIBUTE_SCHEMAS = Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, attributeSchema(name)]));

const NewPet = v.object(ATTRIBUTE_SCHEMAS, bodyFault);

function attributeSchema(name: keyof NewPetAttributes): v.GenericSchema {
  const schema = schemaOfKind(name, ATTRIBUTES[name]);
  return ATTRIBUTES[name].isRequired ? schema : v.optional(schema);
}

function schemaOfKind(name: keyof NewPetAttributes, attribute: Attribute): v.GenericSchema {
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      const description = `${attribute.description} It has ${minLength} to ${maxLength} Unicode code points, is well-formed, and does not contain U+0000.`;
      return v.pipe(
        v.string(`${name} must be a string`),
        v.metadata({ description, minLength, maxLength, pattern: '^[^\\u0000]*$' }),
      );
    }
    case 'one of':
      return attribute.values === PET_STATUSES
        ? PetStatus
        : v.picklist(attribute.values, `${name} must be one of ${attribute.values.join(', ')}`);
    default: {
      const { min, max } = attribute;
      const format = attribute.kind === 'int64' ? { format: 'int64' } : {};
      const description = `${attribute.description} From ${min} to ${max}.`;
      return v.pipe(
        // In JSON, every integer is read as a `bigint`.
        v.custom<bigint>(
          (value) => typeof value === 'bigint',
          `${name} must be an integer from ${min} to ${max}`,
        ),
        v.metadata({ type: 'integer', ...format, minimum: min, maximum: max, description }),
      );
    }
  }
}

const ListQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.string(limitRule),
      v.metadata({
        type: 'integer',
        minimum: LIMIT_MIN,
        maximum: LIMIT_MAX,
        description: 'The maximum number of pets in the response.',
      }),
      v.transform(parseInt64),
      v.bigint(limitRule),
      v.minValue(BigInt(LIMIT_MIN), limitRule),
      v.maxValue(BigInt(LIMIT_MAX), limitRule),
      v.transform(Number),
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
      v.bigint(`after ${int64Rule}`),
    ),
  ),
});

/** The OpenAPI document is derived from these schemas. */
export const REQUEST_SCHEMAS: Readonly<Record<'PetStatus' | 'NewPet' | 'ListQuery', v.GenericSchema>> = {
  PetStatus,
  NewPet,
  ListQuery,
};

/** The maximum number of query strings whose parsed query is cached, and their maximum length in characters. */
const CACHE_LIMIT = 1000;
const CACHED_QUERY_LENGTH = 200;

/** Reads the members of a request body that {@link readNewPet} validates. */
export const newPetMembers: (text: string) => Members<keyof NewPetInput> = memberReader(PET_ATTRIBUTES);

export function readNewPet(body: ReturnType<typeof newPetMembers>): NewPetInput {
  const { success, output, issues } = v.safeParse(NewPet, body);
  if (success) return output as Partial<NewPetInput> as NewPetInput;
  if (body === undefined) throw invalid(issues);
  // The response must name every fault, but the store, which checks the rules, is not called for an invalid body.
  const faults = PET_ATTRIBUTES.map(
    (name) =>
      issues.find(({ path }) => path?.at(-1)?.key === name)?.message ?? attributeFault(name, body[name]),
  );
  throw invalidRequest(faults.filter((fault) => fault !== undefined).join('; '));
}

/** Creates a function that parses query strings. While the result is cached, an equal query string has the same object. */
export function listQueryReader(): (queryString: string) => PetQuery {
  const queries = new Map<string, PetQuery>();
  return (queryString) => {
    const cached = queries.get(queryString);
    if (cached !== undefined) return cached;
    const { success, output, issues } = v.safeParse(ListQuery, parametersOf(queryString));
    if (!success) throw invalid(issues);
    const query = Object.freeze(output);
    if (queries.size >= CACHE_LIMIT) queries.clear();
    if (queryString.length <= CACHED_QUERY_LENGTH) queries.set(queryString, query);
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

function invalid(issues: readonly { readonly message: string }[]): AnimalStoreError {
  return invalidRequest(issues.map(({ message }) => message).join('; '));
}

/** Valibot also calls this function when a member is missing, which the last item of `path` then names. */
function bodyFault({ path }: v.ObjectIssue): string {
  const member = path?.at(-1)?.key;
  return member === undefined ? 'the body must be a JSON object' : `${String(member)} is required`;
}
