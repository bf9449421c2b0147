/**
 * Tests with pets that have an attribute of each kind: required, optional, and with a default. A copy of `src` gets them as
 * CONTRIBUTING says, in `ATTRIBUTES` and as a migration of each database. The tests import this copy instead of `src`, and so do
 * its threads.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';

const ROOT = join(import.meta.dirname, '../..');
const COPY = join(tmpdir(), `animal-store-entity-${process.pid}`);

interface Kind {
  /** The members of the row in `ATTRIBUTES` that say which values are valid. */
  readonly row: string;
  readonly value: string;
  readonly sqlite: string;
  readonly postgres: string;
  /** The value in SQL. */
  readonly sql: string;
}

/** Lists have a filter by these columns, and by the status. */
const FILTERS = ['required_boolean', 'optional_timestamp'];

/** In the definitions of columns, `@` is the name of the column. */
const KINDS: Readonly<Record<string, Kind>> = {
  text: {
    row: 'minLength: 1, maxLength: 9',
    value: "'a'",
    sqlite: 'TEXT CHECK (length(@) BETWEEN 1 AND 9 AND instr(@, char(0)) = 0)',
    postgres: 'text CHECK (char_length(@) BETWEEN 1 AND 9)',
    sql: "'a'",
  },
  'one of': {
    row: "values: ['low', 'high']",
    value: "'low'",
    sqlite: "TEXT CHECK (@ IN ('low', 'high'))",
    postgres: "text CHECK (@ IN ('low', 'high'))",
    sql: "'low'",
  },
  int64: {
    row: 'min: -5n, max: 2n ** 63n - 1n',
    value: '7n',
    sqlite: 'INTEGER CHECK (@ >= -5)',
    postgres: 'bigint CHECK (@ >= -5)',
    sql: '7',
  },
  integer: {
    row: 'min: 1900, max: 2100',
    value: '2024',
    sqlite: 'INTEGER CHECK (@ BETWEEN 1900 AND 2100)',
    postgres: 'bigint CHECK (@ BETWEEN 1900 AND 2100)',
    sql: '2024',
  },
  boolean: {
    row: '',
    value: 'false',
    sqlite: 'INTEGER CHECK (@ IN (0, 1))',
    postgres: 'boolean',
    sql: "'0'",
  },
  timestamp: {
    row: '',
    value: "'2024-02-29T12:30:00.001Z'",
    sqlite: "TEXT CHECK (@ >= '0001' AND strftime('%Y-%m-%dT%H:%M:%fZ', @) IS @)",
    postgres: "timestamptz(3) CHECK (@ BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')",
    sql: "'2024-02-29T12:30:00.001Z'",
  },
};

/** A schema version above all others. */
const LAST_VERSION = 1000;

const PRESENCES = ['required', 'optional', 'default'] as const;

const ATTRIBUTES = Object.entries(KINDS).flatMap(([kind, { row, value, sqlite, postgres, sql }]) =>
  PRESENCES.map((presence) => {
    const [first = '', last = ''] = kind.split(' ');
    const suffix = [first, last].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    const column = [presence, first, last].filter(Boolean).join('_');
    const presenceOf =
      presence === 'default'
        ? `isRequired: false, default: ${value}`
        : `isRequired: ${presence === 'required'}`;
    const always = presence === 'optional' ? '' : ` NOT NULL DEFAULT ${sql}`;
    const add = (definition: string) =>
      `ALTER TABLE pets ADD COLUMN ${column} ${definition.replaceAll('@', column)}${always};`;
    const isFilter = FILTERS.includes(column);
    const index = (columns: string) =>
      isFilter ? `\nCREATE INDEX pets_by_${column} ON pets (${columns});` : '';
    return {
      row: `${presence}${suffix}: { kind: '${kind}', ${row && `${row}, `}${presenceOf}, ${isFilter ? 'filter: true, ' : ''}description: 'The ${presence} ${kind}.', example: ${value} },`,
      sqlite: add(sqlite) + index(column),
      postgres: add(postgres) + index(`${column}, id`),
    };
  }),
);

const linesOf = (part: 'row' | 'sqlite' | 'postgres') => ATTRIBUTES.map((each) => each[part]).join('\n');

/** Adds text in front of what a pattern finds, which must be there. */
function edit(path: string, pattern: RegExp, addition: string): void {
  const file = join(COPY, 'src', path);
  const text = readFileSync(file, 'utf8');
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${path} has no ${pattern}`);
  writeFileSync(file, text.slice(0, found.index) + addition + text.slice(found.index));
}

export default function setup(): () => void {
  rmSync(COPY, { recursive: true, force: true });
  mkdirSync(COPY);
  cpSync(join(ROOT, 'src'), join(COPY, 'src'), { recursive: true });
  for (const name of ['dist', 'node_modules', 'package.json'])
    symlinkSync(join(ROOT, name), join(COPY, name));
  edit('domain/pet.ts', /\} satisfies \{/, linesOf('row'));
  for (const database of ['sqlite', 'postgres'] as const)
    edit(
      `adapters/${database}/schema.ts`,
      /(?<=MIGRATIONS: [\s\S]*\n)\];/,
      `[${LAST_VERSION}, ${JSON.stringify(linesOf(database))}],\n`,
    );
  return () => rmSync(COPY, { recursive: true, force: true });
}

/** Replaces `src` by the copy. */
export const inCopy: Plugin = {
  name: 'entity',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    const sources = join(ROOT, 'src/');
    return resolved?.id.startsWith(sources) ? join(COPY, 'src', resolved.id.slice(sources.length)) : resolved;
  },
};
