/** Replaces the attributes of a pet in the files of a new project, before the files are renamed. */

import {
  columnParts,
  type Database,
  indexDefinition,
  type NamedAttribute,
  rowOf,
} from '../attribute-text.ts';
import { withRecords } from './records.ts';

type Edits = readonly (readonly [place: RegExp, text: string])[];

/** Returns the text of a file with these attributes instead of the attributes of a pet. */
export function withAttributes(path: string, text: string, attributes: readonly NamedAttribute[]): string {
  return editsOf(path, text, attributes).reduce(
    (source, [place, replacement]) => {
      if (source.search(place) < 0) throw new Error(`${path}: nothing matches ${place}`);
      return source.replace(place, () => replacement);
    },
    withRecords(text, attributes),
  );
}

function editsOf(path: string, text: string, attributes: readonly NamedAttribute[]): Edits {
  switch (path) {
    case 'src/domain/pet.ts':
      return petEdits(attributes);
    case 'src/domain/pet-change.ts':
      return [
        [/\/\*\* The statuses that can follow [\s\S]*?\n\};\n\n/, ''],
        [/(?<=type Pet),\n {2}type PetStatus(?=,\n)/, ''],
        [/ {2}status: STATUS_TRANSITIONS,\n/, transitionsOf(attributes)],
      ];
    case 'src/library/portable.ts':
      return ['DEFAULT_STATUS', 'isPetStatus', 'NAME_MAX_LENGTH', 'NAME_MIN_LENGTH', 'PET_STATUSES']
        .map((name): Edits[number] => [new RegExp(` {2}${name},\n`), ''])
        .concat([[/, STATUS_TRANSITIONS(?= \})/, '']]);
    case 'src/library/calls.ts':
      return [[/, PetStatus(?= \})/, '']];
    case 'src/adapters/sqlite/schema.ts':
      return schemaEdits(text, attributes, 'sqlite');
    case 'src/adapters/postgres/schema.ts':
      return schemaEdits(text, attributes, 'postgres');
    default:
      return [];
  }
}

function petEdits(attributes: readonly NamedAttribute[]): Edits {
  const filters = attributes.filter(({ attribute }) => attribute.filter).map(({ name }) => `'${name}'`);
  const hasTimestamp = attributes.some(({ attribute }) => attribute.kind === 'timestamp');
  const members = (canLack: (each: NamedAttribute) => boolean, typeOf: (each: NamedAttribute) => string) =>
    attributes
      .map((each) => {
        const [mark, or] = canLack(each) ? ['?', ' | undefined'] : ['', ''];
        const { name, attribute } = each;
        return `  /** ${attribute.description} */\n  readonly ${name}${mark}: ${typeOf(each)}${or};\n`;
      })
      .join('');
  return [
    [/\/\*\* The values of the status of a pet\. [\s\S]*?(?=\/\*\* A valid pet that has no id yet)/, ''],
    [/(?<=interface NewPet \{\n)[\s\S]*?(?=^\})/m, members(isNullable, storedType)],
    [
      /(?<=interface NewPetInput \{\n)[\s\S]*?(?=^\})/m,
      members(({ attribute }) => !attribute.isRequired, inputType),
    ],
    [/(?<=type PetFilterName = )[^;]+/, filters.join(' | ') || 'never'],
    [
      /(?<=Attribute>> = \{\n)[\s\S]*?(?=\} satisfies)/,
      attributes.map((each) => `  ${rowOf(each)}\n`).join(''),
    ],
    [/\/\*\* Whether a value is one of \{@link PET_STATUSES\}[\s\S]*?\n\}\n\n/, ''],
    [/INT64_MAX, INT64_MIN, (?=.*\n)/, ''],
    [
      /(?<=from '.\/int64.ts';\n)(?:import type \{ Timestamp \}.*\n)?/,
      hasTimestamp ? "import type { Timestamp } from './timestamp.ts';\n" : '',
    ],
  ];
}

function isNullable({ attribute }: NamedAttribute): boolean {
  return !attribute.isRequired && attribute.default === undefined;
}

const TYPES = {
  text: 'string',
  int64: 'bigint',
  integer: 'number',
  boolean: 'boolean',
  timestamp: 'Timestamp',
};

function storedType({ attribute }: NamedAttribute): string {
  if (attribute.kind !== 'one of') return TYPES[attribute.kind];
  return attribute.values.map((value) => `'${value}'`).join(' | ');
}

function inputType(each: NamedAttribute): string {
  const type = storedType(each);
  if (type === 'Timestamp') return 'string';
  return type === 'bigint' || type === 'number' ? 'bigint | number' : type;
}

/** Allows all transitions between the values of the first attribute of the kind `one of`. */
function transitionsOf(attributes: readonly NamedAttribute[]): string {
  for (const { name, attribute } of attributes) {
    if (attribute.kind !== 'one of') continue;
    const others = (value: string) => attribute.values.filter((each) => each !== value);
    const table = Object.fromEntries(attribute.values.map((value) => [value, others(value)]));
    return `  ${name}: ${JSON.stringify(table)},\n`;
  }
  return '';
}

function schemaEdits(text: string, attributes: readonly NamedAttribute[], database: Database): Edits {
  const added = text.matchAll(
    /^const (\w+) = (?:`(?:(?!CREATE TABLE)[^`])*(?:ALTER TABLE pets ADD |\bON pets )[^`]*`|'[^'\n]* ON pets [^'\n]*');\n/gm,
  );
  const parts = attributes.map((each) => columnParts(each, database));
  const rules = ['id > 0', ...parts.map(({ rule }) => rule)].filter(Boolean).join('\n  AND ');
  const indexes = attributes
    .filter(({ attribute }) => attribute.filter)
    .map((each) => `${indexDefinition(each, database)};\n  `);
  return [
    [/(?<=RULES = )(?:`id[^`]*`|"id[^"]*")/, `\`${rules}\``],
    [
      /name (?:TEXT|text) NOT NULL,\s+category_id \w+ NOT NULL,\s+status (?:TEXT|text) NOT NULL/,
      parts.map(({ definition }) => definition).join(',\n    '),
    ],
    [/CREATE INDEX pets_by_status ON pets \([^)]*\);\s+/, indexes.join('')],
    // Removes the migrations that add columns and indexes, because the new table has its columns and indexes from the start.
    ...[...added].flatMap(
      ([, name]): Edits => [
        [new RegExp(`(?:^/\\*\\*.*\\n)?^const ${name} = (?:\`[^\`]*\`|'[^'\\n]*');\\n\\n`, 'm'), ''],
        [new RegExp(` {2}\\[\\d+, ${name}\\],\\n`), ''],
      ],
    ),
  ];
}
