/** Checks the types of options at run time, because the compiler does not check callers in JavaScript. */

import { invalidRequest } from '../domain/errors.ts';

export interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Checks the members of an accepted value. */
  readonly checkMembers?: (name: string, value: object) => void;
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

/** Returns the rule for an object that has or inherits these methods. */
export function objectWith(...methods: readonly string[]): Rule {
  const noun = methods.length === 1 ? 'method' : 'methods';
  return {
    expected: `an object with the ${noun} ${listed(methods, 'and')}`,
    accepts: (value) => isObject(value) && methods.every((name) => FUNCTION.accepts(value[name])),
  };
}

export function arrayOf(expected: string, rule: Rule): Rule {
  return {
    expected,
    accepts: Array.isArray,
    checkMembers: (name, items) => {
      for (const [index, item] of Object.entries(items)) checkArgument(`${name}[${index}]`, item, rule);
    },
  };
}

/** Returns the rule for an option that is itself an object of options. A member without a rule is refused. */
export function optionsOf<T extends object>(rules: OptionRules<T>, base: Rule = OBJECT): Rule {
  return {
    ...base,
    accepts: isObject,
    checkMembers(name, value) {
      // This check is first: if a required member is misspelt, the error must name the misspelt member, not the missing one.
      checkOptions(value as T, rules, `${name}.`);
      checkArgument(name, value, base);
    },
  };
}

/** Returns the rule for an object that `base` accepts. In an object literal, a function with an unknown name is refused. */
export function objectOf<T extends object>(base: Rule, rules: OptionRules<T>): Rule {
  return {
    ...base,
    accepts: isObject,
    checkMembers(path, value) {
      for (const [name, member] of isPlainObject(value) ? Object.entries(value) : []) {
        if (FUNCTION.accepts(member) && !Object.hasOwn(rules, name))
          throw unknownOption(`${path}.${name}`, Object.keys(rules));
      }
      for (const name in rules) {
        const member = (value as T)[name];
        if (member !== undefined) checkArgument(`${path}.${name}`, member, rules[name]);
      }
      checkArgument(path, value, base);
    },
  };
}

/** Whether a value is an object literal, of this realm or of another one. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Throws `invalid_request` when an argument breaks its rule. The message never contains the text of a string argument. */
export function checkArgument(name: string, value: unknown, { expected, accepts, checkMembers }: Rule): void {
  if (!accepts(value)) throw invalidRequest(`${name}: expected ${expected}, got ${described(value)}`);
  checkMembers?.(name, value as object);
}

/** Copies the options, including inherited ones. Throws `invalid_request` if an option has no rule or breaks its rule. */
export function checkOptions<T extends object>(options: T, rules: OptionRules<T>, prefix = ''): T {
  checkArgument('options', options, OBJECT);
  const checked: Partial<T> = {};
  for (const name in options) {
    if (options[name] === undefined) continue;
    if (!Object.hasOwn(rules, name)) throw unknownOption(prefix + name, Object.keys(rules));
    checkArgument(prefix + name, options[name], rules[name]);
    checked[name] = options[name];
  }
  return checked as T;
}

/** Returns an optional part of a storage. Throws `invalid_request` when the storage does not have it. */
export function supported<T>(part: T | undefined, operation: string): T {
  if (part === undefined) throw invalidRequest(`${operation} is not supported by this storage`);
  return part;
}

function unknownOption(name: string, names: readonly string[]): Error {
  return invalidRequest(`unknown option ${name}: expected ${listed(names, 'or')}`);
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
