/** The SQL for pets that several modules use. */

import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES } from '../../domain/pet.ts';
import { conditionsOf, PET_COLUMNS } from '../storage-kit/pet-rows.ts';
import type { SqlStatement } from './connection-pool.ts';

const TYPES = {
  text: 'text',
  'one of': 'text',
  int64: 'bigint',
  integer: 'bigint',
  boolean: 'boolean',
  timestamp: 'timestamptz',
} as const;
const COLUMNS = PET_ATTRIBUTES.map((name) => ({ name, type: TYPES[ATTRIBUTES[name].kind] }));

/** Returns the parameters for the attributes of several pets, and for further arrays of the given types. */
export function arrayParameters(...further: readonly ('bigint' | 'boolean' | 'text')[]): string {
  const types = [...COLUMNS.map(({ type }) => type), ...further];
  return types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
}

/**
 * Takes the order lock. Pets become visible in the order of their ids, because a transaction that assigns ids holds this lock until
 * its end, even while it waits for a standby. Each schema has its own lock.
 */
export const TAKE_ORDER = "SELECT pg_advisory_xact_lock(7301, 'pets'::regclass::oid::int)";
/** A part of a `WITH` clause that takes the order lock. PostgreSQL runs it only if the statement reads from `ordered`. */
export const ORDER: string = `ordered AS MATERIALIZED (${TAKE_ORDER})`;

/**
 * A part of a `WITH` clause. The commit of a statement that reads from `relaxed` waits neither for the disk nor for a standby. If a
 * standby is missing, such a wait would block the connection.
 */
export const RELAXED = "relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))";

/** The time of the database when the statement began, in milliseconds. It decides when a record of an idempotency key ends. */
export const NOW = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

/** Returns the values of the attributes of several pets, in the order of the parameters that {@link arrayParameters} returns. */
export function arraysOf(pets: readonly NewPet[]): unknown[] {
  return COLUMNS.map(({ name, type }) => {
    const values = pets.map((pet) => pet[name]);
    return type === 'bigint' ? `{${values.map((value) => value ?? 'NULL').join()}}` : values;
  });
}

/**
 * Returns the statement that selects a page. With filters, its condition compares two columns, as a pair, with the start of the
 * page: the column of the first filter, and the id. PostgreSQL can then use the index on these two columns.
 */
export function listStatement(query: PetQuery, furtherColumn = 'NULL'): SqlStatement {
  const { limit, after = INT64_MIN, ...filter } = query;
  const { columns, values } = conditionsOf(filter);
  const [first, ...others] = columns;
  const range = first ? `(${first}, id) > ($3, $1) AND ${first} <= $3` : 'id > $1';
  const conditions = [range, ...others.map((column, index) => `${column} = $${index + 4}`)].join(' AND ');
  const order = first ? `${first}, id` : 'id';
  return {
    name: ['list', ...columns].join('-'),
    text: `SELECT ${PET_COLUMNS}, ${furtherColumn} FROM pets WHERE ${conditions} ORDER BY ${order} LIMIT $2`,
    values: [after, limit, ...values],
  };
}
