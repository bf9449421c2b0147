/** The pets of tests. A test names the attributes that it is about, and these functions add the others. */

import {
  ATTRIBUTE_COLUMNS,
  columnOf,
  PET_COLUMNS,
  valuesOf,
} from '../../src/adapters/storage-kit/pet-rows.ts';
import type { Attribute } from '../../src/domain/attribute.ts';
import { isInt64 } from '../../src/domain/int64.ts';
import {
  ATTRIBUTES,
  isAccepted,
  isAlwaysStored,
  type NewPet,
  type NewPetInput,
  PET_ATTRIBUTES,
  type Pet,
} from '../../src/domain/pet.ts';
import { type PetChange, TRANSITIONS } from '../../src/domain/pet-change.ts';
import { newPetJson, parsePetMembers, parsePets, petChangeJson } from '../../src/domain/pet-json.ts';
import { numberedPet, numberOf, samplePet, sampleValues } from '../../src/testing/fixtures/pets.ts';

/** A valid value of each attribute that every pet has: the default, if there is one. */
const REQUIRED: Partial<Record<keyof NewPet, unknown>> = Object.fromEntries(
  PET_ATTRIBUTES.filter(isAlwaysStored).map((name) => [
    name,
    ATTRIBUTES[name].default ?? ATTRIBUTES[name].example,
  ]),
);

/** The attributes that a test about something else names. */
const NAMED = new Set<string>(['name', 'categoryId', 'status']);
const UNNAMED = Object.entries(REQUIRED).filter(([name]) => !NAMED.has(name));

/** Returns the members with a valid value of each required attribute that they lack: without a `bigint`, as JSON has it. */
export function withRequired<const T extends object>(members: T): T & Omit<NewPet, keyof T | 'status'> {
  const isExact = Object.values(members).some((value) => typeof value === 'bigint');
  const added = UNNAMED.map(([name, value]) => [
    name,
    typeof value === 'bigint' && !isExact ? Number(value) : value,
  ]);
  return { ...members, ...Object.fromEntries(added) } as T & Omit<NewPet, keyof T | 'status'>;
}

/** Returns JSON in which each object with a `name` and a `categoryId` also has the other required attributes, in their order. */
export function wholeJson(text: string): string {
  return text.replaceAll(/"name": ?[^{}]*?"categoryId": ?[^{}]*?(?=\})/g, (members) => {
    const lacking = UNNAMED.filter(([name]) => !members.includes(`"${name}":`));
    const added = lacking.map(
      ([name, value]) => `,"${name}":${typeof value === 'string' ? `"${value}"` : value}`,
    );
    return members + added.join('');
  });
}

/** The members of a pet in code: with a literal `categoryId`, or in the call that creates it. */
const CREATED =
  /(?:\bname(?::|,) [^{};]*\bcategoryId: '?-?\d+n?\b|(?<=\bcreatePet\(\{ )[^{}.]*\bcategoryId\b)[^{}]*?(?=,?\s*\})/g;

/** Like {@link wholeJson}, for the pets that an example creates, and for what it prints. */
export function wholeCode(code: string): string {
  const whole = code.replaceAll(CREATED, (members) => {
    const lacking = UNNAMED.filter(([name]) => !members.includes(`${name}: `));
    const added = lacking.map(
      ([name, value]) =>
        `, ${name}: ${typeof value === 'bigint' ? `${value}n` : typeof value === 'string' ? `'${value}'` : value}`,
    );
    return members + added.join('');
  });
  return wholeJson(whole);
}

/** Returns the name of an attribute as the command has it. */
export function optionName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the options of the command for these values of attributes. */
export function optionsOf(values: PetChange): string[] {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `--${optionName(name)}=${value}`);
}

const CHANGEABLE = PET_ATTRIBUTES.filter((name) => !(name in TRANSITIONS));
/** A pet with every attribute, before any transition, and its JSON. */
export const REX: NewPet = samplePet('Rex', 3n, CHANGEABLE);
export const REX_JSON: string = newPetJson(REX);
/** A pet that the other one can become. */
export const MAX: NewPet = samplePet('Max', 6n, CHANGEABLE);

/** The column of the first text, or `id` if pets have no text. */
export const LABEL: string =
  PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].kind === 'text').map(columnOf)[0] ?? 'id';

/**
 * The required attributes alone: a pet that is created from them has the default of each other attribute that has one. Others are
 * added where a rule over several attributes needs them.
 */
export const BARE_REX = PET_ATTRIBUTES.reduce<Partial<NewPet>>(
  (pet, name) => Object.assign(pet, isAccepted(pet as NewPet) ? {} : { [name]: REX[name] }),
  Object.fromEntries(
    PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired).map((name) => [name, REX[name]]),
  ),
) as NewPetInput;

/** Pets that each differ from the first one in one attribute. */
export const PETS_UNLIKE_REX: readonly NewPet[] = PET_ATTRIBUTES.flatMap((name) =>
  sampleValues(ATTRIBUTES[name])
    .map((value) => ({ ...REX, [name]: value }) as NewPet)
    .filter((pet) => pet[name] !== REX[name] && isAccepted(pet))
    .slice(0, 1),
);

/** Returns the JSON of a pet that {@link numbersIn} recognizes in a list. */
export function numberedJson(number: bigint | number): string {
  return newPetJson(numberedPet(BigInt(number)));
}

/** Returns the numbers of listed pets. */
export function numbersIn(json: string): number[] {
  return parsePets(json).map((pet) => Number(numberOf(pet)));
}

/** Returns a change to the pet, without the attributes whose values follow one another by a rule. */
export function changeTo(pet: NewPet): PetChange {
  return Object.fromEntries(Object.entries(pet).filter(([name]) => !(name in TRANSITIONS)));
}

export function numberedChange(number: bigint | number): PetChange {
  return changeTo(numberedPet(BigInt(number)));
}

export function changeJson(number: bigint | number): string {
  return petChangeJson(numberedChange(number));
}

/** Returns the JSON of a pet, with `json` as the value of an attribute, or without the attribute. */
export function jsonWith(name: keyof NewPet, json: string | undefined, pet: NewPet = REX): string {
  const text = (value: unknown) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value));
  const members = PET_ATTRIBUTES.map((each) => [each, each === name ? json : text(pet[each])]);
  const given = members.filter(([, value]) => value !== undefined);
  return `{${given.map(([member, value]) => `"${member}":${value}`).join(',')}}`;
}

/** A pet that breaks one rule of one attribute, in JSON. */
export interface InvalidPet {
  readonly name: keyof NewPet;
  /** The value in JSON. Without one, the attribute is missing. */
  readonly value: string | undefined;
  readonly json: string;
  readonly input: NewPetInput;
  /** The start of the message that names the rule. */
  readonly message: string;
}

/** An invalid pet for each rule of each attribute. In the first one, an attribute is missing, if one is required. */
export const INVALID_PETS: readonly [InvalidPet, ...InvalidPet[]] = PET_ATTRIBUTES.flatMap((name) => [
  ...(ATTRIBUTES[name].isRequired ? [[name, undefined, 'is required'] as const] : []),
  ...invalidValues(ATTRIBUTES[name]).map(([value, rule]) => [name, value, rule] as const),
])
  .sort(([, a], [, b]) => Number(a !== undefined) - Number(b !== undefined))
  .map(([name, value, rule]) => ({
    name,
    value,
    json: jsonWith(name, value),
    input: parsePetMembers(jsonWith(name, value)),
    message: `${name} ${rule}`,
  })) as readonly InvalidPet[] as readonly [InvalidPet, ...InvalidPet[]];

/** Two invalid changes: an invalid value, the removal of an attribute that every pet has, or an array. */
export const INVALID_CHANGES: readonly string[] = [
  ...INVALID_PETS.filter(({ value }) => value !== undefined)
    .slice(0, 1)
    .map(({ name, value }) => `{"${name}":${value}}`),
  ...PET_ATTRIBUTES.filter(isAlwaysStored).map((name) => `{"${name}":null}`),
  '[]',
].slice(0, 2);

function invalidValues(attribute: Attribute): readonly (readonly [json: string, rule: string])[] {
  const all = (rule: string, values: readonly string[]) => values.map((json) => [json, rule] as const);
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      const lengths = [minLength - 1, maxLength + 1].filter((length) => length >= 0 && length < 10_000);
      return [
        ...all(
          `must have ${minLength} to ${maxLength} characters`,
          lengths.map((length) => `"${'x'.repeat(length)}"`),
        ),
        ...all('must not contain U+0000', ['"a\\u0000"']),
        ...all('must be well-formed Unicode', ['"\\ud83d"']),
        ...all('must be a string', ['7', 'true', 'null', '{}', '["a"]']),
      ];
    }
    case 'one of':
      return all(`must be one of ${attribute.values.join(', ')}`, [
        '"no such value"',
        '""',
        '7',
        'null',
        '[]',
      ]);
    case 'boolean':
      return all('must be true or false', ['"true"', '1', '""', 'null', '{}']);
    case 'timestamp': {
      const times =
        '2023-02-29T00:00:00Z 2027-01-31T12:30:60Z 0000-12-31T23:59:59Z 2027-01-31T12:30:00.1234Z 2027-01-31';
      return all('must be a time in the format of RFC 3339', [
        ...times.split(' ').map((time) => `"${time}"`),
        ...['1700000000', 'null', 'true'],
      ]);
    }
    default: {
      const [min, max] = [BigInt(attribute.min), BigInt(attribute.max)];
      const values = [min - 1n, max + 1n, 1.5, '1e400', '"7"', 'true', 'null', '[7]'];
      return all(`must be an integer from ${min} to ${max}`, values.map(String));
    }
  }
}

type Values = Readonly<Partial<Record<keyof Pet, unknown>>>;

/** Returns the statement that adds a pet, which may break a rule, to the table of a database. */
export function insertPet({ id, ...pet }: Values = {}): string {
  // A database converts a quoted text to the type of the column.
  const values = literalsOf({ ...REX, ...pet } as NewPet);
  return id === undefined
    ? `INSERT INTO pets (${ATTRIBUTE_COLUMNS}) VALUES (${values.join(', ')});`
    : `INSERT INTO pets (${PET_COLUMNS}) VALUES (${[id, ...values].join(', ')});`;
}

/** Returns the statement that adds this number of equal pets to the table of a database. */
export function insertPets(count: number): string {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n`;
  return insertPet().replace(/VALUES \((.*)\);$/, `SELECT $1 FROM (${numbers}) AS numbers;`);
}

/** Returns the values of a pet, in the order of its attributes, as SQL has them. */
export function literalsOf(pet: NewPet): string[] {
  return valuesOf(pet).map((value) => (value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`));
}

/** Returns the condition of a trigger of SQLite that a new row has the attributes of the pet. */
export function isNewRow(pet: NewPet): string {
  const literals = literalsOf(pet);
  // A trigger does not convert the values that it compares.
  return PET_ATTRIBUTES.map((name, index) => `(NEW.${columnOf(name)} || '') IS ${literals[index]}`).join(
    ' AND ',
  );
}

/** What the table of pets must have: its columns, and what it accepts and refuses, by attribute. */
export const EXPECTED_TABLE: readonly {
  readonly column: string;
  readonly kind: Attribute['kind'];
  readonly isNullable: boolean;
  readonly accepted: readonly Values[];
  readonly refused: readonly Values[];
}[] = PET_ATTRIBUTES.map((name) => {
  const { accepted, refused } = edgesOf(ATTRIBUTES[name]);
  const isNullable = !isAlwaysStored(name);
  const pet = (value: unknown) => ({ [name]: value });
  return {
    column: columnOf(name),
    kind: ATTRIBUTES[name].kind,
    isNullable,
    accepted: [...accepted, ...(isNullable ? [null] : [])].map(pet),
    refused: [...refused, ...(isNullable ? [] : [null])].map(pet),
  };
});

/** Values that a table refuses, but that a pet has if another program has written them. */
const [REFUSED = {}] = EXPECTED_TABLE.filter(({ kind }) => kind !== 'boolean')
  .flatMap(({ refused }) => refused)
  .filter((values) => !Object.values(values).includes(null));
export const SPOILED_REX: NewPet = { ...REX, ...(REFUSED as Partial<NewPet>) };

/** Breaks a rule in all pets of a SQLite store, as another program can do. Empty if the columns have no value that breaks one. */
export const SPOIL: string = Object.entries(REFUSED)
  .map(
    ([name, value]) =>
      `PRAGMA ignore_check_constraints = 1; UPDATE pets SET ${columnOf(name as keyof NewPet)} = '${value}'`,
  )
  .join(';');

function edgesOf(attribute: Attribute): { accepted: readonly unknown[]; refused: readonly unknown[] } {
  switch (attribute.kind) {
    case 'text': {
      const lengths = [attribute.minLength, attribute.maxLength];
      const others = [attribute.minLength - 1, attribute.maxLength + 1].filter((length) => length >= 0);
      const text = (length: number) => '🐈'.repeat(length);
      return { accepted: lengths.map(text), refused: others.map(text) };
    }
    case 'one of':
      return { accepted: attribute.values, refused: ['', 'no such value'] };
    case 'boolean':
      return { accepted: [true, false], refused: [2n] };
    case 'timestamp': {
      const beyond = ['0000-12-31T23:59:59.999Z', '10000-01-01T00:00:00.000Z', '2023-02-29T00:00:00.000Z'];
      return { accepted: sampleValues(attribute), refused: beyond };
    }
    default: {
      const [min, max] = [BigInt(attribute.min), BigInt(attribute.max)];
      return { accepted: [min, max], refused: [min - 1n, max + 1n].filter(isInt64) };
    }
  }
}
