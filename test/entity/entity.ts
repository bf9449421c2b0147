/**
 * Tests with pets that have an attribute of each kind: required, optional, and with a default. Others have the names of
 * columns of our own. A copy of `src` gets them as CONTRIBUTING says, in `ATTRIBUTES` and as a migration of each database. The tests
 * import this copy instead of `src`, and so do its threads.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';
import {
  columnDefinition,
  indexDefinition,
  type NamedAttribute,
  rowOf,
} from '../../scripts/attribute-text.ts';
import type { Attribute, AttributeKind } from '../../src/domain/attribute.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPY = join(tmpdir(), `animal-store-entity-${process.pid}`);

/** The kinds, each with a valid value. */
const KINDS: readonly (readonly [kind: AttributeKind, value: Attribute['example']])[] = [
  [{ kind: 'text', minLength: 1, maxLength: 9 }, 'a'],
  [{ kind: 'one of', values: ['low', 'high'] }, 'low'],
  [{ kind: 'int64', min: -5n, max: 2n ** 63n - 1n }, 7n],
  [{ kind: 'integer', min: 1900, max: 2100 }, 2024],
  [{ kind: 'boolean' }, false],
  [{ kind: 'timestamp' }, '2024-02-29T12:30:00.001Z'],
];

/** Lists have a filter by these, and by the status. */
const FILTERS = ['requiredBoolean', 'optionalTimestamp'];

/** Names that other columns, tables and parts of statements have, too. */
const OTHER_NAMES =
  'caller endsAt expected isRemoval last made ordered petId place record request response soughtId validFor validUntil';

const OF_EACH_KIND: readonly NamedAttribute[] = KINDS.flatMap(([kind, value]) =>
  ['required', 'optional', 'default'].map((presence) => {
    const words = kind.kind.split(' ').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    const name = [presence, ...words].join('');
    const attribute = {
      ...kind,
      isRequired: presence === 'required',
      ...(presence === 'default' && { default: value }),
      ...(FILTERS.includes(name) && { filter: true as const }),
      description: `The ${presence} ${kind.kind}.`,
      example: value,
    };
    return { name, attribute };
  }),
);
const ATTRIBUTES: readonly NamedAttribute[] = [
  ...OF_EACH_KIND,
  ...OTHER_NAMES.split(' ').map((name) => {
    const about = { description: `The ${name}.`, example: false };
    return { name, attribute: { kind: 'boolean', isRequired: false, default: false, ...about } as const };
  }),
];

/** Where the rows are added, in a text that StrykerJS may have changed. */
const PETS = 'domain/pet.ts';
const BEFORE_NAMES = /(?=export const PET_ATTRIBUTES\b)/;
const ROWS = `Object.assign(ATTRIBUTES, {\n${ATTRIBUTES.map(rowOf).join('\n')}\n});\n`;

/** A schema version above all others. */
const LAST_VERSION = 1000;

/** The columns are added to a table that has rows, so each that is never NULL has a default. */
function migrationFor(database: 'sqlite' | 'postgres'): string {
  const statements = ATTRIBUTES.flatMap((each) => {
    const { isRequired, default: value, example, filter } = each.attribute;
    const initial = example === false ? 0 : example;
    const always = isRequired || value !== undefined ? ` DEFAULT '${initial}'` : '';
    const add = `ALTER TABLE pets ADD COLUMN ${columnDefinition(each, database)}${always}`;
    return filter ? [add, indexDefinition(each, database)] : [add];
  });
  return statements.map((statement) => `${statement};`).join('\n');
}

/** Adds text in front of the match of a pattern, which must exist. */
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
  edit(PETS, BEFORE_NAMES, ROWS);
  for (const database of ['sqlite', 'postgres'] as const)
    edit(
      `adapters/${database}/schema.ts`,
      /(?<=MIGRATIONS: [\s\S]*\n)\];/,
      `[${LAST_VERSION}, ${JSON.stringify(migrationFor(database))}],\n`,
    );
  return () => rmSync(COPY, { recursive: true, force: true });
}

/** Replaces `src` with the copy. */
export const inCopy: Plugin = {
  name: 'entity',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    // The modules that make the copy are imported before it exists.
    if (!existsSync(COPY)) return undefined;
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    const sources = join(ROOT, 'src/');
    return resolved?.id.startsWith(sources) ? join(COPY, 'src', resolved.id.slice(sources.length)) : resolved;
  },
};

/** Adds the attributes in memory, for tests that start no thread and use no database. */
export const inMemory: Plugin = {
  name: 'entity in memory',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith(`/src/${PETS}`) ? code.replace(BEFORE_NAMES, ROWS) : undefined),
};
