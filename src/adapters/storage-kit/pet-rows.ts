/** Converts pets to rows of a table and back. Each attribute has a column, whose name never begins with `_`. */

import type { AttributeKind } from '../../domain/attribute.ts';
import { ATTRIBUTES, isAlwaysStored, type NewPet, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';
import { PET_FILTERS, type PetFilter } from '../../domain/pet-filter.ts';

/** A row that begins with {@link PET_COLUMNS}. An integer is a `bigint`, a boolean can be a `bigint`, a missing value is `null`. */
export type PetRow = readonly unknown[];

export const ATTRIBUTE_COLUMNS: string = PET_ATTRIBUTES.map(columnOf).join(', ');
export const PET_COLUMNS: string = `id, ${ATTRIBUTE_COLUMNS}`;

const COLUMNS = PET_ATTRIBUTES.map((name, index) => ({ name, index, kind: ATTRIBUTES[name].kind }));

/** Returns the name of the column of an attribute, such as `due_at` of `dueAt`. */
export function columnOf(attribute: keyof NewPet): string {
  return attribute.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a row to a pet, without checking the rules for pets. */
export function petOf(row: PetRow): Pet {
  const pet: Partial<Record<keyof Pet, unknown>> = { id: row[0] };
  for (const { name, index, kind } of COLUMNS) {
    const value = row[index + 1];
    if (value !== null) pet[name] = fromColumn(kind, value);
  }
  return Object.freeze(pet as Pet);
}

/** Converts the value of a column to that of an attribute of this kind. */
export function fromColumn(kind: AttributeKind['kind'], value: unknown): unknown {
  if (kind === 'integer') return Number(value);
  // Another program may have stored an integer other than 0 and 1, which stays as it is.
  return kind === 'boolean' && (value === 0n || value === 1n) ? value === 1n : value;
}

/** Converts the attributes of a pet to the values of a row. Booleans become integers, because SQLite has no booleans. */
export function valuesOf(pet: NewPet): (string | bigint | null)[] {
  return PET_ATTRIBUTES.map((name) => columnValue(pet[name]));
}

/** Returns the columns that a filter compares, and the values that they must have in a row. */
export function conditionsOf(filter: PetFilter): { columns: string[]; values: (string | bigint | null)[] } {
  const names = PET_FILTERS.filter((name) => filter[name] !== undefined);
  return { columns: names.map(columnOf), values: names.map((name) => columnValue(filter[name])) };
}

/** Returns the name of the index of a filter. Each SQL database has an index for each filter. */
export function indexOf(filter: keyof PetFilter): string {
  return `pets_by_${columnOf(filter)}`;
}

function columnValue(value: string | bigint | number | boolean | undefined): string | bigint | null {
  return typeof value === 'number' || typeof value === 'boolean' ? BigInt(value) : (value ?? null);
}

/**
 * Returns the columns of a pet in a table whose schema can be older, with `NULL` in place of each missing column. Also returns
 * a value for each missing column of an attribute that is always stored.
 */
export function existingColumns(columns: readonly unknown[]): { selected: string; lacking: Partial<NewPet> } {
  const lacking = PET_ATTRIBUTES.filter((name) => !columns.includes(columnOf(name)) && isAlwaysStored(name));
  const selected = PET_ATTRIBUTES.map(columnOf).map((column) => (columns.includes(column) ? column : 'NULL'));
  const values = lacking.map((name) => [name, ATTRIBUTES[name].default ?? ATTRIBUTES[name].example]);
  return { selected: ['id', ...selected].join(', '), lacking: Object.fromEntries(values) };
}
