/** The valibot schemas of the peers that validate with valibot. */

import * as v from 'valibot';
import type { Pet, Query } from './store.ts';

export const INT64_MIN: bigint = -(2n ** 63n);
export const INT64_MAX: bigint = 2n ** 63n - 1n;

const Status = v.picklist(['available', 'pending', 'sold']);

const Int64Text = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,19}$/),
  v.transform((text) => BigInt(text)),
  v.minValue(INT64_MIN),
  v.maxValue(INT64_MAX),
);

const Int64 = v.pipe(
  v.union([
    v.bigint(),
    v.pipe(
      v.number(),
      v.integer(),
      v.transform((value) => BigInt(value)),
    ),
  ]),
  v.minValue(INT64_MIN),
  v.maxValue(INT64_MAX),
);

const QuerySchema = v.object({
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d+$/),
      v.transform((text) => Number(text)),
      v.minValue(1),
      v.maxValue(100),
    ),
    '20',
  ),
  status: v.optional(Status),
  after: v.optional(Int64Text),
});

const NewPetSchema = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  categoryId: Int64,
  status: v.optional(Status, 'available'),
});

/** These functions throw a `ValiError` if the input is invalid. */
export const readQuery = (query: unknown): Query => v.parse(QuerySchema, query);
export const readNewPet = (body: unknown): Omit<Pet, 'id'> => v.parse(NewPetSchema, body);

/** Parses the id of a pet. Returns `undefined` if the text is not an int64, because no pet can have such an id. */
export function readPetId(text: string | undefined): bigint | undefined {
  const result = v.safeParse(Int64Text, text);
  return result.success ? result.output : undefined;
}
