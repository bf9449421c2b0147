/** Creates the source text of an attribute: its row in `ATTRIBUTES`, and the SQL of its column and index. */

import type { Attribute } from '../src/domain/attribute.ts';
import { INT64_MAX, INT64_MIN } from '../src/domain/int64.ts';

export interface NamedAttribute {
  readonly name: string;
  readonly attribute: Attribute;
}

export type Database = 'sqlite' | 'postgres';

/** Returns the row of an attribute in `ATTRIBUTES`. */
export function rowOf({ name, attribute }: NamedAttribute): string {
  const members = Object.entries(attribute).map(([member, value]) => `${member}: ${literal(value)}`);
  return `${name}: { ${members.join(', ')} },`;
}

function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  return Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value);
}

/** Returns the SQL that defines the column of an attribute. */
export function columnDefinition(each: NamedAttribute, database: Database): string {
  const { definition, rule } = columnParts(each, database);
  return `${definition}${rule === '' ? '' : ` CHECK (${rule})`}`;
}

/** Returns the SQL of a column, and of the rule for its values. The rule is empty if the type allows only valid values. */
export function columnParts(
  { name, attribute }: NamedAttribute,
  database: Database,
): { readonly definition: string; readonly rule: string } {
  const column = columnOf(name);
  const [type, rule] =
    database === 'sqlite' ? sqliteColumn(column, attribute) : postgresColumn(column, attribute);
  const isNullable = !attribute.isRequired && attribute.default === undefined;
  return { definition: `${column} ${type}${isNullable ? '' : ' NOT NULL'}`, rule };
}

/**
 * Returns the SQL of the index for a filter. The index is ordered by value and id, because a filtered page has its pets
 * in the order of their ids. SQLite itself adds the id to each entry.
 */
export function indexDefinition({ name }: NamedAttribute, database: Database): string {
  const column = columnOf(name);
  return `CREATE INDEX pets_by_${column} ON pets (${column}${database === 'sqlite' ? '' : ', id'})`;
}

function sqliteColumn(column: string, attribute: Attribute): readonly [type: string, rule: string] {
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      return [
        'TEXT',
        `length(${column}) BETWEEN ${minLength} AND ${maxLength} AND instr(${column}, char(0)) = 0`,
      ];
    }
    case 'one of':
      return ['TEXT', valuesRule(column, attribute.values)];
    case 'boolean':
      return ['INTEGER', `${column} IN (0, 1)`];
    case 'timestamp':
      return ['TEXT', `${column} >= '0001' AND strftime('%Y-%m-%dT%H:%M:%fZ', ${column}) IS ${column}`];
    default:
      return ['INTEGER', rangeRule(column, attribute.min, attribute.max)];
  }
}

function postgresColumn(column: string, attribute: Attribute): readonly [type: string, rule: string] {
  switch (attribute.kind) {
    case 'text':
      return ['text', `char_length(${column}) BETWEEN ${attribute.minLength} AND ${attribute.maxLength}`];
    case 'one of':
      return ['text', valuesRule(column, attribute.values)];
    case 'boolean':
      return ['boolean', ''];
    case 'timestamp':
      return ['timestamptz(3)', `${column} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'`];
    default:
      return ['bigint', rangeRule(column, attribute.min, attribute.max)];
  }
}

function valuesRule(column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;
}

/** Omits `INT64_MIN` and `INT64_MAX`, because the type of the column has these bounds. */
function rangeRule(column: string, min: bigint | number, max: bigint | number): string {
  const rules = [
    min === INT64_MIN ? '' : `${column} >= ${min}`,
    max === INT64_MAX ? '' : `${column} <= ${max}`,
  ];
  return rules.filter(Boolean).join(' AND ');
}

export function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
