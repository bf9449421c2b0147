/** The kinds of attributes, and the rules for their values. */

import { int64Fault, toInt64 } from './int64.ts';
import { type Timestamp, toTimestamp } from './timestamp.ts';

/** The kind of an attribute, and the limits of its valid values. */
export type AttributeKind =
  /** Well-formed text without U+0000. The lengths are in Unicode code points. */
  | { readonly kind: 'text'; readonly minLength: number; readonly maxLength: number }
  /** A `bigint`. */
  | { readonly kind: 'int64'; readonly min: bigint; readonly max: bigint }
  /** A `number` that is a safe integer. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'one of'; readonly values: readonly string[] }
  | { readonly kind: 'boolean' }
  /** A {@link Timestamp}. The input can have any offset, and at most three decimals of a second. */
  | { readonly kind: 'timestamp' };

type Value = string | bigint | number | boolean;

/** An attribute of an entity. A stored entity can lack an attribute that is not required and has no default. */
export type Attribute = AttributeKind & {
  readonly isRequired: boolean;
  /** The value that is stored when none is given. */
  readonly default?: Value;
  /** Whether lists can be filtered by this attribute. This needs an index. */
  readonly filter?: true;
  /** A sentence for the documentation. */
  readonly description: string;
  /** A valid value, for documentation. */
  readonly example: Value;
};

type Kinds = { readonly [Each in AttributeKind as Each['kind']]: Each };

type KindOf<Value> = [Value] extends [bigint]
  ? 'int64'
  : [Value] extends [number]
    ? 'integer'
    : [Value] extends [boolean]
      ? 'boolean'
      : string extends Value
        ? 'text'
        : [Value] extends [Timestamp]
          ? 'timestamp'
          : [Value] extends [string]
            ? 'one of'
            : never;

/** The kinds whose values are integers in JSON and in a database. */
export const INTEGER_KINDS: readonly AttributeKind['kind'][] = ['int64', 'integer'];

type DefaultOf<Value, Input> = undefined extends Input
  ? undefined extends Value
    ? { readonly isRequired: false; readonly default?: never }
    : { readonly isRequired: false; readonly default: Value }
  : { readonly isRequired: true; readonly default?: never };

/** Describes an attribute that is stored as a `Value`, and is created from an `Input`. */
export type AttributeOf<Value, Input> = Kinds[KindOf<Exclude<Value, undefined>>] &
  DefaultOf<Value, Input> & {
    readonly values?: readonly Value[];
    readonly description: string;
    readonly example: Exclude<Value, undefined>;
  };

/** Returns the value to store, or the rule that the given value breaks. */
export type Rule = (given: unknown) => { readonly value?: unknown; readonly fault?: string };

/** Creates the rule of an attribute. For the kinds `int64` and `integer`, the rule accepts both a `bigint` and a `number`. */
export function ruleOf(name: string, attribute: Attribute): Rule {
  const rule = ruleOfKind(name, attribute);
  const missing = attribute.isRequired ? { fault: `${name} is required` } : { value: attribute.default };
  return (given) => (given === undefined ? missing : rule(given));
}

function ruleOfKind(name: string, attribute: AttributeKind): Rule {
  switch (attribute.kind) {
    case 'text':
      return (value) => {
        const fault = textFault(value, attribute.minLength, attribute.maxLength);
        return fault === undefined ? { value } : { fault: `${name} must ${fault}` };
      };
    case 'one of':
      return (value) =>
        attribute.values.some((each) => each === value)
          ? { value }
          : { fault: `${name} must be one of ${attribute.values.join(', ')}` };
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? { value } : { fault: `${name} must be true or false` });
    case 'timestamp':
      return (given) => {
        const value = toTimestamp(given);
        return value === undefined ? { fault: `${name} must be ${A_TIMESTAMP}` } : { value };
      };
    default: {
      const [min, max] = [BigInt(attribute.min), BigInt(attribute.max)];
      const isNumber = attribute.kind === 'integer';
      return (given) => {
        const value = toInt64(given);
        if (value === undefined || value < min || value > max)
          return { fault: int64Fault(name, given, min, max) };
        return { value: isNumber ? Number(value) : value };
      };
    }
  }
}

const A_TIMESTAMP =
  'a time in the format of RFC 3339 such as 2027-01-31T12:30:00Z, with at most milliseconds, in a year from 0001 to 9999';

/** Returns the rule that a text breaks, worded to follow "must" in a message. The lengths are in Unicode code points. */
export function textFault(text: unknown, minLength: number, maxLength: number): string | undefined {
  if (typeof text !== 'string') return 'be a string';
  if (!text.isWellFormed()) return 'be well-formed Unicode, without lone surrogates';
  if (text.includes('\0')) return 'not contain U+0000';
  // A code point has one or two code units, so a text with more than 2 * maxLength code units is too long, and needs no count.
  const length = text.length > 2 * maxLength ? Number.POSITIVE_INFINITY : [...text].length;
  if (length < minLength || length > maxLength) return `have ${minLength} to ${maxLength} characters`;
  return undefined;
}
