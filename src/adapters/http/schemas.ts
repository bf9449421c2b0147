/** The shapes of requests, from which the OpenAPI document is derived. The store checks the values, and names broken rules. */

import * as v from 'valibot';
import type { ChangesPageQuery } from '../../application/list-changes.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../application/list-pets.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INTEGER_KINDS } from '../../domain/attribute.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../domain/int64.ts';
import { type Members, parseJson, readMembers } from '../../domain/json.ts';
import { ATTRIBUTES, type NewPetInput, PET_ATTRIBUTES } from '../../domain/pet.ts';
import { type PetChange, petChange } from '../../domain/pet-change.ts';
import { PET_FILTERS } from '../../domain/pet-filter.ts';

/** The schemas of the attributes with a fixed list of values, such as `PetStatus`. */
export const ENUM_SCHEMAS: Readonly<Record<string, v.GenericSchema>> = Object.fromEntries(
  PET_ATTRIBUTES.flatMap((name) => {
    const attribute = ATTRIBUTES[name];
    return attribute.kind === 'one of'
      ? [[enumName(name), v.pipe(v.string(), v.metadata({ enum: attribute.values }))]]
      : [];
  }),
);

export const INT64_METADATA: Readonly<Record<string, unknown>> = {
  type: 'integer',
  format: 'int64',
  minimum: INT64_MIN,
  maximum: INT64_MAX,
};

const NewPet = v.object(
  Object.fromEntries(
    PET_ATTRIBUTES.map((name) => {
      const schema = attributeSchema(name);
      return [name, ATTRIBUTES[name].isRequired ? schema : v.optional(schema)];
    }),
  ),
);

/** Returns the schema of a value in JSON, or of its text in a query. */
function attributeSchema(name: keyof NewPetInput, isText = false): v.GenericSchema {
  const attribute = ATTRIBUTES[name];
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      const description = `${attribute.description} It has ${minLength} to ${maxLength} Unicode code points, is well-formed, and does not contain U+0000.`;
      return v.pipe(v.string(), v.metadata({ description, minLength, maxLength, pattern: '^[^\\x00]*$' }));
    }
    case 'one of':
      return ENUM_SCHEMAS[enumName(name)] as v.GenericSchema;
    case 'boolean': {
      const { description } = attribute;
      if (!isText) return v.pipe(v.boolean(), v.metadata({ description }));
      const booleanIn = (text: string) => (text === 'true' || text === 'false' ? text === 'true' : text);
      return v.pipe(v.string(), v.metadata({ type: 'boolean', description }), v.transform(booleanIn));
    }
    case 'timestamp': {
      const description = `${attribute.description} A time of RFC 3339 with any offset, from year 0001 to 9999, and with at most milliseconds. Responses have it in UTC, with milliseconds.`;
      return v.pipe(v.string(), v.metadata({ format: 'date-time', description }));
    }
    default: {
      const { min, max } = attribute;
      const format = attribute.kind === 'int64' ? { format: 'int64' } : {};
      const description = `${attribute.description} From ${min} to ${max}.`;
      const metadata = { type: 'integer', ...format, minimum: min, maximum: max, description };
      return isText
        ? v.pipe(v.string(), v.metadata(metadata), v.transform(int64In))
        : v.pipe(v.bigint(), v.metadata(metadata)); // Valibot has no JSON Schema for a `bigint`, so the metadata contains it.
    }
  }
}

function enumName(name: string): string {
  return `Pet${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Used instead of a value that is not an int64, so that the message of the store names the valid range, not a JavaScript type. */
const NOT_AN_INT64 = INT64_MAX + 1n;

const int64In = (text: string): bigint => parseInt64(text) ?? NOT_AN_INT64;

const LIMIT_RANGE = { type: 'integer', minimum: LIMIT_MIN, maximum: LIMIT_MAX };
const LIMIT_METADATA = { ...LIMIT_RANGE, description: 'The maximum number of items in the response.' };
const limitIn = (text: string): number => Number(parseInt64(text) ?? Number.NaN);
const LimitText = v.pipe(v.string(), v.metadata(LIMIT_METADATA), v.transform(limitIn));
const Limit = v.optional(LimitText, String(LIMIT_DEFAULT));
const AFTER_DESCRIPTION =
  'The `id` of the last pet of the page before: the page starts after it. The URL in `Link` contains it.';
const AFTER_METADATA = { ...INT64_METADATA, description: AFTER_DESCRIPTION };

const ListQuery = v.object({
  limit: Limit,
  ...Object.fromEntries(PET_FILTERS.map((name) => [name, v.optional(attributeSchema(name, true))])),
  after: v.optional(v.pipe(v.string(), v.metadata(AFTER_METADATA), v.transform(int64In))),
});

export const REQUEST_SCHEMAS: Readonly<Record<'NewPet' | 'ListQuery', v.GenericSchema>> = {
  NewPet,
  ListQuery,
};

/** The members of a request body. */
export type Body = NonNullable<Members<keyof NewPetInput>>;

export function newPetMembers(text: string): Body | undefined {
  return readMembers(parseJson(text), PET_ATTRIBUTES);
}

/** Reads a new pet. Accepts a body of the wrong shape, because the error of the store names every broken rule. */
export function readNewPet(body: Body): NewPetInput {
  const { success, output } = v.safeParse(NewPet, body);
  return (success ? output : comparable(body)) as NewPetInput;
}

/** Reads a change: any members of a new pet, and `null` to remove an optional one. Throws if the change itself breaks a rule. */
export function readChange(body: Body): PetChange {
  return petChange(comparable(body, null) as PetChange);
}

/** Replaces a non-integer value of an integer attribute by `NOT_AN_INT64`, so the message names the valid range. */
function comparable(body: Body, accepted?: null): Body {
  const compared = { ...body };
  for (const name of PET_ATTRIBUTES) {
    const [value, isInteger] = [body[name], INTEGER_KINDS.includes(ATTRIBUTES[name].kind)];
    if (isInteger && value !== undefined && value !== accepted && typeof value !== 'bigint')
      compared[name] = NOT_AN_INT64;
  }
  return compared;
}

const ChangesQuery = v.object({ limit: Limit, after: v.optional(v.string()) });

export function readChangesQuery(queryString: string): ChangesPageQuery {
  return v.parse(ChangesQuery, parametersOf(queryString, ChangesQuery));
}

/** The maximum number of query strings whose parsed query is cached. */
const CACHE_LIMIT = 1000;

/** Creates a function that parses query strings. While a result is cached, an equal query string gets the same object. */
export function listQueryReader(): (queryString: string) => PetQuery {
  const queries = new Map<string, PetQuery>();
  return (queryString) => {
    const cached = queries.get(queryString);
    if (cached !== undefined) return cached;
    const query = Object.freeze(v.parse(ListQuery, parametersOf(queryString, ListQuery))) as PetQuery;
    if (queries.size >= CACHE_LIMIT) queries.clear();
    queries.set(queryString, query);
    return query;
  };
}

function parametersOf(queryString: string, schema: { readonly entries: object }): Record<string, string> {
  const parameters = new URLSearchParams(queryString);
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.entries)) {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw invalidRequest(`${name} must be given once`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}
