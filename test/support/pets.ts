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
  isAlwaysStored,
  type NewPet,
  newPet,
  PET_ATTRIBUTES,
  type Pet,
} from '../../src/domain/pet.ts';
import { sampleValues } from '../../src/testing/fixtures/pets.ts';

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

/** Returns JSON in which each object with a `categoryId` also has the other required attributes, in their order. */
export function wholeJson(text: string): string {
  return text.replaceAll(/"categoryId":[^{}]*?(?=\})/g, (members) => {
    const lacking = UNNAMED.filter(([name]) => !members.includes(`"${name}":`));
    const added = lacking.map(
      ([name, value]) => `,"${name}":${typeof value === 'string' ? `"${value}"` : value}`,
    );
    return members + added.join('');
  });
}

/** Like {@link wholeJson}, for the pets that an example creates, and for what it prints. */
export function wholeCode(code: string): string {
  const whole = code.replaceAll(/\bname: [^{};]*\bcategoryId: -?\d+n?\b[^{}]*?(?=,?\s*\})/g, (members) => {
    const lacking = UNNAMED.filter(([name]) => !members.includes(`${name}: `));
    const added = lacking.map(
      ([name, value]) => `, ${name}: ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)}`,
    );
    return members + added.join('');
  });
  return wholeJson(whole);
}

/** The options of `animal-store pets create` for the required attributes that a test does not name. */
export const REQUIRED_OPTIONS: readonly string[] = UNNAMED.flatMap(([name, value]) => [
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  String(value),
]);

export const REX: NewPet = newPet(withRequired({ name: 'Rex', categoryId: 1n }));

type Values = Readonly<Partial<Record<keyof Pet, unknown>>>;

/** Returns the statement that adds a pet, which may break a rule, to a table of SQLite or PostgreSQL. */
export function insertPet({ id, ...pet }: Values = {}): string {
  // Both databases convert a quoted text to the type of the column.
  const values = valuesOf({ ...REX, ...pet } as NewPet).map((value) =>
    value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`,
  );
  return id === undefined
    ? `INSERT INTO pets (${ATTRIBUTE_COLUMNS}) VALUES (${values.join(', ')});`
    : `INSERT INTO pets (${PET_COLUMNS}) VALUES (${[id, ...values].join(', ')});`;
}

/** Breaks the rule of names in all pets of a SQLite store, as another program can do. */
export const SPOIL_NAMES = "PRAGMA ignore_check_constraints = 1; UPDATE pets SET name = ''";

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
