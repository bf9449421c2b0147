/**
 * Whether another program has changed the tables of the store. It may add columns, tables, views and indexes, but nothing that
 * changes or hides what a statement of this program does.
 */

import type { SqlStatement } from './connection-pool.ts';
import { ATTRIBUTES } from './pets.ts';

/** The columns of each table, as the catalog describes them. */
const COLUMNS: Readonly<Record<string, string>> = {
  pets: `id bigint not null identity, ${Object.entries(ATTRIBUTES)
    .map((attribute) => attribute.join(' '))
    .join(', ')}`,
  api_keys: `id bigint not null identity, hash bytea not null, name text not null, hint text not null, created_at bigint not null,
    expires_at bigint, revoked_at bigint, last_used_on bigint, caller_id bigint, is_read_only boolean not null default false`,
  idempotency_records:
    'caller text not null, key text not null, pet_id bigint not null, created_at bigint not null',
  idempotency_promises: 'days integer not null, ends_at bigint not null',
};

/** Each table, the columns of an index, and whether it must be unique. */
const INDEXES = `('pets', 'id', true), ('pets', 'status, id', false), ('api_keys', 'hash', true),
  ('idempotency_records', 'caller, key', true), ('idempotency_records', 'created_at', false),
  ('idempotency_promises', 'days', true)`;

const TABLES = Object.keys(COLUMNS)
  .map((table) => `'${table}'`)
  .join();

const DEFINITIONS = Object.entries(COLUMNS)
  .flatMap(([table, columns]) => columns.split(/,\s+/).map((column) => `('${table}', '${column}')`))
  .join();

const FAULTS = `WITH store AS (
    SELECT oid, relname, relkind FROM pg_class WHERE relname IN (${TABLES}) AND pg_table_is_visible(oid)
  ), columns AS (
    SELECT relname, concat_ws(' ', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not null' END,
      'default ' || pg_get_expr(adbin, adrelid), CASE attidentity WHEN 'd' THEN 'identity' END) AS definition
    FROM store JOIN pg_attribute ON attrelid = store.oid LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
  ), indexes AS (
    SELECT relname, indisunique, (SELECT string_agg(attname, ', ' ORDER BY place)
      FROM unnest(indkey::int2[]) WITH ORDINALITY AS key (attnum, place) JOIN pg_attribute USING (attnum)
      WHERE attrelid = indrelid AND place <= indnkeyatts) AS keys
    FROM store JOIN pg_index ON indrelid = store.oid WHERE indisvalid AND indpred IS NULL AND indexprs IS NULL
  ), faults (fault) AS (
    SELECT format('%I is not a table', relname) FROM store WHERE relkind <> 'r'
    UNION ALL SELECT format('unknown trigger: DROP TRIGGER %I ON %I removes it', tgname, relname)
      FROM store JOIN pg_trigger ON tgrelid = store.oid WHERE NOT tgisinternal AND tgenabled <> 'D'
    UNION ALL SELECT format('unknown rule: DROP RULE %I ON %I removes it', rulename, relname)
      FROM store JOIN pg_rewrite ON ev_class = store.oid WHERE rulename <> '_RETURN' AND ev_enabled <> 'D'
    UNION ALL SELECT format('the security of rows hides rows of %I', relname)
      FROM store WHERE relkind = 'r' AND row_security_active(oid)
    UNION ALL SELECT format('no column: %s in %I', definition, relname) FROM (VALUES ${DEFINITIONS}) AS needed (relname, definition)
      WHERE NOT EXISTS (SELECT 1 FROM columns WHERE (columns.relname, columns.definition) = (needed.relname, needed.definition))
    UNION ALL SELECT format('no index: %s on %I (%s)', CASE WHEN is_unique THEN 'unique' ELSE 'any' END, relname, keys)
      FROM (VALUES ${INDEXES}) AS needed (relname, keys, is_unique) WHERE NOT EXISTS (SELECT 1 FROM indexes
        WHERE (indexes.relname, indexes.keys) = (needed.relname, needed.keys) AND (indisunique OR NOT is_unique))
    UNION ALL SELECT 'no constraint: pets_rules of pets'
      WHERE NOT EXISTS (SELECT 1 FROM store JOIN pg_constraint ON conrelid = store.oid WHERE conname = 'pets_rules')
  )`;

/** Selects what is wrong with the tables of a store that has the schema version of this release. */
export function tableFaults(version: number): SqlStatement {
  return {
    name: 'table-faults',
    text: `${FAULTS} SELECT fault FROM faults, animal_store_schema WHERE version = ${version}`,
  };
}
