/** Describes the type and the rules of a schema in words. */

import { writeExact } from './exact-json.ts';
import type { Schema } from './openapi.ts';
import { schemaName } from './reference.ts';

/** Returns the type of a schema, such as `integer (int64)` or `array of Pet`. */
export function typeOf({ $ref, type, format, items }: Schema): string {
  if ($ref !== undefined) return schemaName($ref);
  if (items !== undefined) return `array of ${typeOf(items)}`;
  return format === undefined ? (type ?? 'any') : `${type} (${format})`;
}

/** Returns the rules of a schema, such as `1 to 100`. Leaves out patterns, because descriptions state them in words. */
export function rulesOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const characters = pattern?.startsWith('^[!-~]') ? ' visible ASCII characters' : ' code points';
  return [
    ...(schema.enum === undefined ? [] : [`one of ${schema.enum.map(writeExact).join(', ')}`]),
    ...(schema.const === undefined ? [] : [`always ${writeExact(schema.const)}`]),
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, characters),
    ...(schema.default === undefined ? [] : [`default ${writeExact(schema.default)}`]),
  ];
}

function range(
  least: bigint | number | undefined,
  most: bigint | number | undefined,
  unit: string,
): string[] {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}
