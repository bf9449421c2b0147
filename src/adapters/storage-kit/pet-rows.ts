/** Converts pets to rows of a table and back. The table has a column for each attribute. */

import type { AttributeKind } from '../../domain/attribute.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';
import { PET_FILTERS, type PetFilter } from '../../domain/pet-filter.ts';
import { TIMESTAMP_MAX, TIMESTAMP_MIN } from '../../domain/timestamp.ts';

/**
 * A row that begins with {@link PET_COLUMNS}. An integer of any kind is a `bigint`, a boolean can also be a `bigint`, and a missing
 * value is `null`.
 */
export type PetRow = readonly unknown[];

/** The columns of the attributes, in the order of the attributes. */
export const ATTRIBUTE_COLUMNS: string = PET_ATTRIBUTES.map(columnOf).join(', ');
export const PET_COLUMNS: string = `id, ${ATTRIBUTE_COLUMNS}`;

const COLUMNS = PET_ATTRIBUTES.map((name, index) => ({
  name,
  place: index + 1,
  kind: ATTRIBUTES[name].kind,
}));

/** Returns the name of the column of an attribute, such as `category_id` of `categoryId`. */
export function columnOf(attribute: keyof NewPet): string {
  return attribute.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a row to a pet, without checking the rules for pets. */
export function petOf(row: PetRow): Pet {
  const pet: Partial<Record<keyof Pet, unknown>> = { id: row[0] };
  for (const { name, place, kind } of COLUMNS) {
    const value = row[place];
    if (value !== null) pet[name] = fromColumn(kind, value);
  }
  return Object.freeze(pet as Pet);
}

function fromColumn(kind: AttributeKind['kind'], value: unknown): unknown {
  if (kind === 'integer') return Number(value);
  // Another program can have stored any integer.
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

/** Returns the name of the index of a filter. Both databases have one for each filter. */
export function indexOf(filter: keyof PetFilter): string {
  return `pets_by_${columnOf(filter)}`;
}

function columnValue(value: string | bigint | number | boolean | undefined): string | bigint | null {
  return typeof value === 'number' || typeof value === 'boolean' ? BigInt(value) : (value ?? null);
}

/**
 * Returns a statement that selects pets that break a rule, in ascending order of id. The caller adds the limit.
 *
 * @param columns the columns of the table. The table of an older schema can lack some
 * @param textRule returns the rule for a column of text
 * @param timestampRule returns a further rule for a column of timestamps
 */
export function selectInvalidPets(
  columns: readonly unknown[],
  textRule: (column: string, minLength: number, maxLength: number) => string,
  timestampRule: (column: string) => string = () => 'true',
): string {
  const hasColumn = (name: keyof NewPet) => columns.includes(columnOf(name));
  const selected = PET_ATTRIBUTES.map((name) => (hasColumn(name) ? columnOf(name) : 'NULL'));
  const rules = PET_ATTRIBUTES.filter(hasColumn).map((name) => {
    const [column, attribute] = [columnOf(name), ATTRIBUTES[name]];
    switch (attribute.kind) {
      case 'text':
        return textRule(column, attribute.minLength, attribute.maxLength);
      case 'one of':
        return `${column} IN (${attribute.values.map((value) => `'${value}'`).join(', ')})`;
      case 'boolean':
        return `${column} IN (false, true)`;
      case 'timestamp':
        return `${column} BETWEEN '${TIMESTAMP_MIN}' AND '${TIMESTAMP_MAX}' AND ${timestampRule(column)}`;
      default:
        return `${column} BETWEEN ${attribute.min} AND ${attribute.max}`;
    }
  });
  return `SELECT ${['id', ...selected].join(', ')} FROM pets WHERE NOT (${['id > 0', ...rules].join(' AND ')}) ORDER BY id`;
}
