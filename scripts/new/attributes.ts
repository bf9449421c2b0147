/** Reads the attributes of a new project, such as `title:text(1..200), pages:integer(1..5000)?, lent:boolean=false filter`. */

import { FOLLOW_CHANGES_OPTIONS } from '../../src/application/store-options.ts';
import { type Attribute, type AttributeKind, ruleOf } from '../../src/domain/attribute.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { columnOf, type NamedAttribute } from '../attribute-text.ts';
import { camel, capitalized, type Names, SQL_NAME_LENGTH_MAX, SQL_WORDS } from './names.ts';
import { isNamed } from './rename.ts';

const ATTRIBUTE =
  /^(?<name>[^:]*?)\s*:\s*(?<kind>[a-z0-9]+(?: [a-z]+)*?)\s*(?:\((?<args>[^()]*)\))?\s*(?<optional>\?)?\s*(?:=\s*(?<value>.*?))?(?<filter>(?<=[\s?)]|\w) filter)?$/;
const GRAMMAR =
  'expected NAME:KIND such as title:text(1..200), pages:integer(1..5000)?, shelf:one of(fiction, science)=fiction or dueAt:timestamp filter';
const NAME = /^(?=.{1,40}$)[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+){0,7}$/;
export const NAME_RULE =
  'at most 40 letters and digits such as title or dueAt: a lowercase letter first, at most 7 capitals, none last or side by side';
const VALUE = /^(?=.{1,50}$)[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*$/;
export const VALUE_RULE =
  'at most 50 characters: letters and digits, a letter first, with single - or _ between them';
/** Describes the attributes whose values can represent the numbers from 0 to 100. The contract suites need such an attribute. */
export const COUNTING =
  'at least one timestamp, text whose MAX is 3 or more, or integer or int64 with more than 100 values from 0 up';
export const COUNT_MAX = 20;
/** All texts of a record together must fit in the body of a request. */
const TEXTS_LENGTH_MAX = 14_000;
/** A text must fit in the body of a request, which has at most 16 KiB. */
const TEXT_LENGTH_MAX = 2000;
/** An index entry of PostgreSQL has at most about 2,700 bytes, and a code point has at most four bytes. */
const FILTER_LENGTH_MAX = 500;

const REFUSED: Readonly<Record<string, string>> = {
  'requests, responses and tables have a member, parameter or column of this name':
    'id limit after cursor etag removed revision change',
  'the command has an option of this name':
    'active all backup createStore database databaseUrl dryRun expires follow force help host idempotencyKey ifMatch json newEpoch newIds overlap port readOnly skipInvalid verify version',
  'JavaScript gives this member a meaning': 'then toJSON prototype',
  'SQL reserves this word': SQL_WORDS,
  'each table of PostgreSQL has a column of this name': 'cmax cmin ctid tableoid xmax xmin',
};

/** Parses a list of attributes. Throws an `Error` that says what is wrong. */
export function attributesOf(list: string): readonly NamedAttribute[] {
  const faults: string[] = [];
  // A comma inside parentheses separates values, not attributes.
  const attributes = list.split(/,(?![^()]*\))/).flatMap((text, index) => {
    try {
      return [attributeOf(text.trim(), index)];
    } catch (error) {
      faults.push((error as Error).message);
      return [];
    }
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const names = attributes.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw refusal(twice, 'the name is given twice');
  if (attributes.length > COUNT_MAX)
    throw new Error(
      `--attributes: expected at most ${COUNT_MAX}, got ${attributes.length}: a page of 100 records has at most 32 MiB`,
    );
  const length = attributes.reduce(
    (sum, { attribute }) => sum + (attribute.kind === 'text' ? attribute.minLength : 0),
    0,
  );
  if (length > TEXTS_LENGTH_MAX)
    throw new Error(
      `--attributes: the texts have at least ${length} characters together, expected at most ${TEXTS_LENGTH_MAX}, because a request has at most 16 KiB`,
    );
  if (!attributes.some(({ attribute }) => canCount(attribute)))
    throw new Error(`--attributes: expected ${COUNTING}, with which the tests count`);
  return attributes;
}

/** Throws an `Error` if a filter has the name of the path parameter, such as `petId`, or if the name of its index is too long. */
export function refuseFilters({ entity, plural }: Names, attributes: readonly NamedAttribute[]): void {
  for (const { name } of attributes.filter(({ attribute }) => attribute.filter)) {
    if (name === camel([...entity, 'id']))
      throw refusal(name, 'a path has a parameter of this name: choose another name');
    const index = [...plural, 'by', columnOf(name)].join('_');
    if (index.length > SQL_NAME_LENGTH_MAX)
      throw refusal(
        name,
        `its index would be called ${index}: PostgreSQL cuts off names after ${SQL_NAME_LENGTH_MAX} characters: choose a shorter name`,
      );
  }
}

/** Whether the attribute is one of those that {@link COUNTING} describes. */
function canCount(attribute: AttributeKind): boolean {
  if (attribute.kind === 'text') return attribute.maxLength >= 3;
  if (attribute.kind !== 'int64' && attribute.kind !== 'integer') return attribute.kind === 'timestamp';
  const [min, max] = [BigInt(attribute.min), BigInt(attribute.max)];
  return max - (min > 0n ? min : max < 0n ? max : 0n) >= 100n;
}

function refusal(text: string, reason: string): Error {
  return new Error(`--attributes '${text}': ${reason}`);
}

function attributeOf(text: string, index: number): NamedAttribute {
  const { name = '', kind = '', args, optional, value, filter } = ATTRIBUTE.exec(text)?.groups ?? {};
  if (kind === '') throw refusal(text, GRAMMAR);
  refuseName(name);
  if (isNamed(text)) throw refusal(text, 'the words pet and animal are replaced by the name of the entity');
  if (optional !== undefined && value !== undefined)
    throw refusal(text, 'an attribute with a default always has a value, so it cannot be optional');
  const given = kindOf(text, kind, args?.trim());
  const isFilter = filter !== undefined || given.kind === 'one of';
  if (isFilter && name in FOLLOW_CHANGES_OPTIONS)
    throw refusal(name, 'calls that follow new records have an option of this name: choose another name');
  if (isFilter && given.kind === 'text' && given.maxLength > FILTER_LENGTH_MAX)
    throw refusal(text, `a filter is for texts of at most ${FILTER_LENGTH_MAX} characters`);
  const initial = value === undefined ? undefined : defaultOf(text, given, value);
  const attribute = {
    ...given,
    isRequired: optional === undefined && value === undefined,
    ...(initial !== undefined && { default: initial }),
    ...(isFilter && { filter: true as const }),
    description: descriptionOf(name, given),
    example: initial ?? exampleOf(name, given, index),
  };
  return { name, attribute };
}

function refuseName(name: string): void {
  if (name in {}) throw refusal(name, 'JavaScript gives each object this member: choose another name');
  const [reason] = Object.entries(REFUSED).find(([, names]) => names.split(' ').includes(name)) ?? [];
  if (reason !== undefined) throw refusal(name, `${reason}: choose another name`);
  if (/^no[A-Z]/.test(name))
    throw refusal(name, 'the command removes with options that begin with --no-: choose another name');
  if (!NAME.test(name)) throw refusal(name, `expected a name of ${NAME_RULE}`);
}

function kindOf(text: string, kind: string, args: string | undefined): AttributeKind {
  const range = (min: bigint | number, max: bigint | number): readonly [bigint, bigint] => {
    if (args === undefined && kind !== 'text') return [BigInt(min), BigInt(max)];
    const [, first, last] = /^(-?\d+)\s*\.\.\s*(-?\d+)$/.exec(args ?? '') ?? [];
    if (first === undefined || last === undefined) throw refusal(text, `expected ${kind}(MIN..MAX)`);
    const [from, to] = [BigInt(first), BigInt(last)];
    if (from > to) throw refusal(text, `the minimum ${from} is above the maximum ${to}`);
    if (from < min || to > max) throw refusal(text, `expected a range within ${min}..${max}`);
    return [from, to];
  };
  switch (kind) {
    case 'text': {
      const [minLength, maxLength] = range(0, TEXT_LENGTH_MAX);
      if (maxLength === 0n) throw refusal(text, 'expected a maximum above 0');
      return { kind, minLength: Number(minLength), maxLength: Number(maxLength) };
    }
    case 'integer': {
      const [min, max] = range(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
      return { kind, min: Number(min), max: Number(max) };
    }
    case 'int64': {
      const [min, max] = range(INT64_MIN, INT64_MAX);
      return { kind, min, max };
    }
    case 'one of': {
      const values = (args ?? '').split(',').map((value) => value.trim());
      if (values.join('') === '') throw refusal(text, 'expected values, such as one of(fiction, science)');
      const wrong = values.find((value) => !VALUE.test(value));
      if (wrong !== undefined) throw refusal(text, `expected values of ${VALUE_RULE}, got '${wrong}'`);
      if (new Set(values).size < values.length) throw refusal(text, 'a value is given twice');
      return { kind, values };
    }
    case 'boolean':
    case 'timestamp':
      if (args !== undefined) throw refusal(text, `${kind} has no parentheses`);
      return { kind };
    default:
      throw refusal(
        text,
        `expected one of the kinds text, int64, integer, one of, boolean, timestamp, got '${kind}'`,
      );
  }
}

/** Parses a default value. Throws an `Error` if the value breaks the rule of its kind. */
function defaultOf(text: string, kind: AttributeKind, given: string): Attribute['example'] {
  const isInteger = (kind.kind === 'int64' || kind.kind === 'integer') && /^-?\d+$/.test(given);
  const isBoolean = kind.kind === 'boolean' && /^(?:true|false)$/.test(given);
  const rule = ruleOf('the default', { ...kind, isRequired: true, description: '', example: '' });
  if (given.includes('`'))
    throw refusal(text, 'the default must have no backtick, because descriptions enclose it in backticks');
  const { value, fault } = rule(isBoolean ? given === 'true' : isInteger ? BigInt(given) : given);
  if (fault !== undefined) throw refusal(text, fault);
  return value as Attribute['example'];
}

function descriptionOf(name: string, { kind }: AttributeKind): string {
  const words = wordsOf(name);
  const be = /^(?:can|has|is|was) /.test(words) ? '' : 'is ';
  // Some names, such as the verb `floats`, cannot follow "Whether it is".
  if (kind === 'boolean')
    return /^(?:(?:can|is|was) .+|\w*[^s])$/.test(words)
      ? `Whether it ${be}${words}.`
      : `Whether \`${name}\` applies.`;
  const [, event, word] = (kind === 'timestamp' && /^(.+) (at|from|on|since|until)$/.exec(words)) || [];
  if (event === undefined) return `The ${words}.`;
  if (!/^(?:(?:has|is|was) .+|\w*(?<!s)s?)$/.test(event)) return `The time of \`${name}\`.`;
  if (!/^(?:at|on)$/.test(word ?? '')) return `The time ${word} which it ${be}${event}.`;
  return `When it ${event.endsWith('s') ? '' : be}${event}.`;
}

/** Returns an example. Each timestamp is later than those before it in the list, because a rule usually requires this order. */
function exampleOf(name: string, attribute: AttributeKind, index: number): Attribute['example'] {
  switch (attribute.kind) {
    case 'text': {
      const words = capitalized(wordsOf(name)).slice(0, attribute.maxLength);
      return words.trim().padEnd(attribute.minLength, 'x');
    }
    case 'one of':
      return attribute.values[0] as string;
    case 'boolean':
      return false;
    case 'timestamp':
      return new Date(Date.UTC(2027, 0, 31 + index, 12, 30)).toISOString();
    case 'int64':
      return nearest(7n, attribute.min, attribute.max);
    default:
      return nearest(7, attribute.min, attribute.max);
  }
}

function nearest<T extends bigint | number>(value: T, min: T, max: T): T {
  return value < min ? min : value > max ? max : value;
}

function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
