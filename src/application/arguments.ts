/** Checks the types of the options at a public entry, because the compiler does not check the callers in JavaScript. */

import { invalidRequest } from '../domain/errors.ts';

export interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

export type OptionRules<T> = { readonly [Name in keyof T]-?: Rule };

export const STRING: Rule = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const BOOLEAN: Rule = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
export const FUNCTION: Rule = { expected: 'a function', accepts: (value) => typeof value === 'function' };
export const OBJECT: Rule = { expected: 'an object', accepts: isObject };
export const TIMEOUT: Rule = {
  expected: 'a number of milliseconds from 1 to 2147483647',
  accepts: (value) => typeof value === 'number' && value >= 1 && value <= 2 ** 31 - 1,
};

/** The methods may be inherited. */
export function objectWith(...methods: readonly string[]): Rule {
  const noun = methods.length === 1 ? 'method' : 'methods';
  return {
    expected: `an object with the ${noun} ${listed(methods, 'and')}`,
    accepts: (value) => isObject(value) && methods.every((name) => FUNCTION.accepts(value[name])),
  };
}

export function arrayOf(expected: string, { accepts }: Rule): Rule {
  return { expected, accepts: (value) => Array.isArray(value) && value.every(accepts) };
}

/** Throws `invalid_request` when an argument breaks its rule. The message contains no text of the caller. */
export function checkArgument(name: string, value: unknown, { expected, accepts }: Rule): void {
  if (!accepts(value)) throw invalidRequest(`${name}: expected ${expected}, got ${described(value)}`);
}

/** Throws `invalid_request` for an option without a rule, or that breaks its rule. Options can be inherited. */
export function checkOptions<T extends object>(options: T, rules: OptionRules<T>): void {
  checkArgument('options', options, OBJECT);
  for (const name in options) {
    if (options[name] === undefined) continue;
    if (!Object.hasOwn(rules, name)) {
      throw invalidRequest(`unknown option ${name}: expected ${listed(Object.keys(rules), 'or')}`);
    }
    checkArgument(name, options[name], rules[name]);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function described(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  if (value === '') return "''";
  return Array.isArray(value) ? 'an array' : typeof value;
}

function listed(names: readonly string[], conjunction: 'and' | 'or'): string {
  const last = names.slice(-1).join();
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}
