/** The shapes of what clients send: unknown input becomes typed, or `invalid_request`. The rules are the domain's. */

import * as v from 'valibot';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../application/list-pets.ts';
import type { PetQuery } from '../../application/ports.ts';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../domain/int64.ts';
import {
  NAME_MAX_LENGTH,
  NAME_MIN_LENGTH,
  type NewPetInput,
  nameFault,
  PET_STATUSES,
} from '../../domain/pet.ts';
import { HttpError } from './errors.ts';

const int64Rule = `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
const limitRule = `limit must be an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`;
const statusRule = `status must be one of ${PET_STATUSES.join(', ')}`;

/** What Valibot cannot tell a reader of the OpenAPI document by itself, as JSON Schema. */
export const INT64_METADATA: Readonly<Record<string, unknown>> = {
  type: 'integer',
  format: 'int64',
  minimum: INT64_MIN,
  maximum: INT64_MAX,
};

const PetStatus = v.picklist(PET_STATUSES, statusRule);

const NewPet = v.object(
  {
    name: v.pipe(
      v.string('name must be a string'),
      v.metadata({
        description: `The animal's name, kept exactly as sent: ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} Unicode code points, well-formed, without U+0000.`,
        minLength: NAME_MIN_LENGTH,
        maxLength: NAME_MAX_LENGTH,
        pattern: '^[^\\u0000]*$',
      }),
    ),
    categoryId: v.pipe(
      v.custom<number | bigint>(
        (value) => typeof value === 'bigint' || Number.isSafeInteger(value),
        `categoryId ${int64Rule}`,
      ),
      v.metadata({
        ...INT64_METADATA,
        description: `The category that the animal belongs to: any int64, from ${INT64_MIN} to ${INT64_MAX}.`,
      }),
      v.transform((value) => BigInt(value)),
    ),
    status: v.optional(PetStatus),
  },
  missingOr('the body must be a JSON object'),
);

const ListQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.string(limitRule),
      v.metadata({
        type: 'integer',
        minimum: LIMIT_MIN,
        maximum: LIMIT_MAX,
        description: 'The largest number of animals in the answer.',
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
        description: 'The `id` of the last animal seen: the page starts after it. `Link` has it filled in.',
      }),
      v.transform(parseInt64),
      v.bigint(`after ${int64Rule}`),
    ),
  ),
});

/** A schema of several members. */
export type MemberSchema = v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> };

/** The schemas that requests are validated with, for those who describe them. */
export const REQUEST_SCHEMAS: {
  readonly PetStatus: v.GenericSchema;
  readonly NewPet: MemberSchema;
  readonly ListQuery: MemberSchema;
} = { PetStatus, NewPet, ListQuery };

/** How many parsed query strings are kept, and how long one of them may be. */
const KEPT_QUERIES = 1000;
const KEPT_QUERY_LENGTH = 200;

const queries = new Map<string, PetQuery>();

export function readNewPet(body: unknown): NewPetInput {
  const result = v.safeParse(NewPet, Array.isArray(body) ? undefined : body); // to Valibot, an array is an object too
  if (result.success) return result.output;
  const { issues } = result;
  const messages = issues.map(({ message }) => message);
  // The domain looks at a pet whose members have the right types: of any other one, its rule is looked at here.
  const isNameTyped = issues.every(({ path }) => path !== undefined && path[0]?.key !== 'name');
  const fault = isNameTyped ? nameFault((body as { name: string }).name) : undefined;
  throw new HttpError('invalid_request', [...(fault === undefined ? [] : [fault]), ...messages].join('; '));
}

/** The query of a list. The same text gives the same object, as long as it is kept. */
export function readListQuery(queryString: string): PetQuery {
  const kept = queries.get(queryString);
  if (kept !== undefined) return kept;
  const query = Object.freeze(
    read(ListQuery, single(new URLSearchParams(queryString), Object.keys(ListQuery.entries))),
  );
  if (queries.size >= KEPT_QUERIES) queries.clear();
  if (queryString.length <= KEPT_QUERY_LENGTH) queries.set(queryString, query);
  return query;
}

/** The parameters that we know, each given once at the most. What nobody defined is left out. */
function single(parameters: URLSearchParams, names: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw new HttpError('invalid_request', `${name} must be given once`);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function read<const S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new HttpError('invalid_request', result.issues.map(({ message }) => message).join('; '));
}

/** Valibot tells a missing member by the object's own issue, whose path ends with the member's name. */
function missingOr(message: string) {
  return ({ path }: v.ObjectIssue): string => {
    const member = path?.at(-1)?.key;
    return member === undefined ? message : `${String(member)} is required`;
  };
}
