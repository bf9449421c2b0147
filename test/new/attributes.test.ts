import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { columnDefinition, indexDefinition, rowOf } from '../../scripts/attribute-text.ts';
import { attributesOf, COUNTING, refuseFilters } from '../../scripts/new/attributes.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { ROOT } from '../../scripts/new/project.ts';
import { RESPONSE_LIMIT } from '../../src/adapters/api-client/errors.ts';
import { LIMIT_MAX } from '../../src/application/list-pets.ts';
import { FOLLOW_OPTIONS } from '../../src/application/store-options.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { PET_FILTERS } from '../../src/domain/pet-filter.ts';

const [title, pages, shelf, lent, dueAt] = attributesOf(
  'title:text(1..200), pages:integer(1..5000)?, shelf:one of(fiction, science)=fiction, lent: boolean = false filter, dueAt:timestamp? filter',
);

test.each([
  [title, { kind: 'text', minLength: 1, maxLength: 200, isRequired: true, example: 'Title' }],
  [pages, { kind: 'integer', min: 1, max: 5000, isRequired: false, example: 7 }],
  [
    shelf,
    {
      kind: 'one of',
      values: ['fiction', 'science'],
      isRequired: false,
      default: 'fiction',
      filter: true,
      example: 'fiction',
    },
  ],
  [lent, { kind: 'boolean', isRequired: false, default: false, filter: true, example: false }],
  [
    dueAt,
    {
      kind: 'timestamp',
      isRequired: false,
      filter: true,
      example: '2027-02-04T12:30:00.000Z',
      description: 'When it is due.',
    },
  ],
])('an attribute is read: %j', (each, expected) => {
  expect(each?.attribute).toEqual({ description: expect.any(String), ...expected });
});

test('the client accepts a page with the largest attributes', () => {
  const texts = Array.from({ length: 20 }, (_, index) => `a${index}:text(0..2000)`);
  expect(() => attributesOf([...texts, 'b:boolean'].join())).toThrow(
    `: a page of ${LIMIT_MAX} records has at most ${RESPONSE_LIMIT / 2 ** 20} MiB`,
  );
  const values = attributesOf(texts.join()).map(({ name, attribute }) => [
    name,
    '\u0001'.repeat(attribute.kind === 'text' ? attribute.maxLength : 0),
  ]);
  const page = Array(LIMIT_MAX).fill({ id: INT64_MAX.toString(), ...Object.fromEntries(values) });
  expect(JSON.stringify(page).length).toBeLessThan(RESPONSE_LIMIT);
});

test.each([
  ['a:int64', { kind: 'int64', min: -(2n ** 63n), max: 2n ** 63n - 1n }],
  ['b:timestamp, a:int64(-5..-3)', { min: -5n, max: -3n, example: -3n }],
  ['a:text(0..500) filter', { maxLength: 500, filter: true }],
  ['a:text(1..9)=Not, but, b:boolean', 'a'],
  ['b:boolean, a:text(0..9)=a filter filter', { default: 'a filter', filter: true }],
  ['b:boolean, a:timestamp=2027-01-31t12:30:00.5+01:00', { default: '2027-01-31T11:30:00.500Z' }],
  ['b:boolean, a:integer=-1', { default: -1 }],
  ['a:integer(1..101)', { min: 1 }],
  ['a:text(0..3)', { maxLength: 3 }],
])('%s', (list, expected) => {
  if (typeof expected === 'string')
    expect(() => attributesOf(list)).toThrow("--attributes 'but': expected NAME:KIND");
  else expect(attributesOf(list).at(-1)?.attribute).toMatchObject(expected);
});

test('a filter cannot have the name of another option of these calls', () => {
  const options = Object.keys(FOLLOW_OPTIONS).filter((name) => !PET_FILTERS.some((each) => each === name));
  expect(options).toEqual(expect.arrayContaining(['after', 'signal', 'interval']));
  for (const name of options)
    for (const kind of ['one of(day, month)', 'timestamp filter'])
      expect(() => attributesOf(`${name}:${kind}`)).toThrow(/: choose another name$/);
  expect(() => attributesOf('interval:one of(day, month)')).toThrow(
    "--attributes 'interval': calls that follow new records have an option of this name",
  );
  expect(attributesOf('interval:timestamp, signal:boolean')).toHaveLength(2);
});

test('a filter is refused if the name of the entity gives its parameter or its index a name that cannot be used', () => {
  const names = namesOf({ entity: 'line item', plural: 'a'.repeat(30) });
  const refusalOf = (list: string) => () => refuseFilters(names, attributesOf(list));
  expect(refusalOf('lineItemId:int64 filter')).toThrow(
    "--attributes 'lineItemId': a path has a parameter of this name: choose another name",
  );
  const longest = `dueB${'c'.repeat(24)}`;
  expect(refusalOf(`${longest}c:int64 filter`)).toThrow(
    /: its index would be called a+_by_due_bc+: PostgreSQL cuts off names after 63 characters: choose a shorter name$/,
  );
  for (const list of ['lineItemId:int64', `${longest}:int64 filter`, `${longest}c:int64`])
    expect(refusalOf(list)).not.toThrow();
});

test.each([
  ['lent:boolean', 'Whether it is lent.'],
  ['isLent:boolean', 'Whether it is lent.'],
  ['canFly:boolean', 'Whether it can fly.'],
  ['needsHelp:boolean', 'Whether `needsHelp` applies.'],
  ['hasDog:boolean', 'Whether `hasDog` applies.'],
  ['floats:boolean', 'Whether `floats` applies.'],
  ['bornOn:timestamp', 'When it is born.'],
  ['passAt:timestamp', 'The time of `passAt`.'],
  ['firstReminderSentAt:timestamp', 'The time of `firstReminderSentAt`.'],
  ['wasSeenAt:timestamp', 'When it was seen.'],
  ['endsAt:timestamp', 'When it ends.'],
  ['validFrom:timestamp', 'The time from which it is valid.'],
  ['wasOpenUntil:timestamp', 'The time until which it was open.'],
  ['moment:timestamp', 'The moment.'],
])('the description of %s is a sentence', (text, description) => {
  expect(attributesOf(`${text}, a:timestamp`)[0]?.attribute.description).toBe(description);
});

const MEANING = 'id limit after etag cursor removed change json database ifMatch order xmin noShow'.split(
  ' ',
);

test.each([
  ...MEANING.map((name) => [`${name}:boolean`, /: choose another name$/] as const),
  ...['__proto__', 'constructor', 'toString', 'then'].map(
    (name) => [`${name}:boolean`, /^--attributes '\w+': JavaScript/] as const,
  ),
  ['', /expected NAME:KIND/],
  ['a', /expected NAME:KIND/],
  ['a:', /expected NAME:KIND/],
  ['a:text(1..2', /expected NAME:KIND/],
  ['a:boolean maybe', /expected one of the kinds text, int64, .+, got 'boolean maybe'$/],
  ['a:number', /expected one of the kinds text, int64, integer, one of, boolean, timestamp, got 'number'$/],
  ['A:boolean', /expected a name of .* such as title or dueAt: a lowercase letter first, /],
  ['bookISBN:boolean', /at most 7 capitals, none last or side by side$/],
  ['due_at:boolean', /expected a name of at most 40 letters and digits such/],
  ['a:boolean, a:timestamp', /^--attributes 'a': the name is given twice$/],
  ['a:text', /expected text\(MIN\.\.MAX\)$/],
  ['a:text(2..1)', /the minimum 2 is above the maximum 1$/],
  ['a:text(0..0)', /expected a maximum above 0$/],
  ['a:text(-1..3)', /expected a range within 0\.\.2000$/],
  ['a:text(0..501) filter', /a filter is for texts of at most 500 characters$/],
  ['a:integer(0..9007199254740992)', /expected a range within -9007199254740991\.\.9007199254740991$/],
  ['a:int64(0..9223372036854775808)', /expected a range within/],
  ['a:boolean(1)', /boolean has no parentheses$/],
  ['a:one of', /expected values, such as one of\(fiction, science\)$/],
  ['a:one of()', /expected values, such as/],
  ['a:one of(x, )', /expected values of at most 50 characters: .*, got ''$/],
  ['a:one of(x, 3x)', /, a letter first, .* got '3x'$/],
  ["a:one of(it's)", /got 'it's'$/],
  ['a:one of(x, x)', /a value is given twice$/],
  ['a:one of(x, y)=z', /the default must be one of x, y$/],
  ['a:integer(1..3)=4', /the default must be an integer from 1 to 3$/],
  ['a:integer=1.5', /the default must be an integer/],
  ['a:boolean=1', /the default must be true or false$/],
  ['a:timestamp=now', /the default must be a time in the format of RFC 3339/],
  ['a:text(1..3)=four', /the default must have 1 to 3 characters$/],
  ['a:text(1..3)=`', /the default must have no backtick, because descriptions enclose it in backticks$/],
  ['a:boolean?=true', /so it cannot be optional$/],
  ['petName:boolean', /the words pet and animal are replaced by the name of the entity$/],
  [
    'A:boolean, a:boolean(1)',
    /^--attributes 'A': .*\n--attributes 'a:boolean\(1\)': boolean has no parentheses$/,
  ],
  ['level:integer(1..3), tag:text(0..2)', `--attributes: expected ${COUNTING}, with which the tests count`],
  ['a:integer(1..100), b:integer(-1000..99)', COUNTING],
  [
    Array.from({ length: 8 }, (_, index) => `a${index}:text(2000..2000)`).join(),
    /the texts have at least 16000 characters together, expected at most 14000/,
  ],
  [Array.from({ length: 21 }, (_, index) => `a${index}:boolean`).join(), /expected at most 20, got 21: /],
] as const)('%s is refused', (list, message) => {
  expect(() => attributesOf(list)).toThrow(message);
});

test('the manual says with which attributes the tests can count', () => {
  expect(readFileSync(join(ROOT, 'docs/make-it-yours.md'), 'utf8').replaceAll('\n', ' ')).toContain(COUNTING);
});

test('an attribute becomes a row of the table, a column and an index', () => {
  const attributes = [title, pages, shelf, lent, dueAt].filter((each) => each !== undefined);
  const [column, index] = [columnDefinition, indexDefinition];
  expect(rowOf(attributesOf('a:int64(1..2), b:timestamp')[0] as NonNullable<typeof title>)).toBe(
    'a: { kind: "int64", min: 1n, max: 2n, isRequired: true, description: "The a.", example: 2n },',
  );
  expect(attributes.map((each) => column(each, 'sqlite'))).toEqual([
    'title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200 AND instr(title, char(0)) = 0)',
    'pages INTEGER CHECK (pages >= 1 AND pages <= 5000)',
    "shelf TEXT NOT NULL CHECK (shelf IN ('fiction', 'science'))",
    'lent INTEGER NOT NULL CHECK (lent IN (0, 1))',
    "due_at TEXT CHECK (due_at >= '0001' AND strftime('%Y-%m-%dT%H:%M:%fZ', due_at) IS due_at)",
  ]);
  expect(attributes.slice(2, 4).map((each) => column(each, 'postgres'))).toEqual([
    "shelf text NOT NULL CHECK (shelf IN ('fiction', 'science'))",
    'lent boolean NOT NULL',
  ]);
  expect(attributes.slice(4).flatMap((each) => [index(each, 'sqlite'), index(each, 'postgres')])).toEqual([
    'CREATE INDEX pets_by_due_at ON pets (due_at)',
    'CREATE INDEX pets_by_due_at ON pets (due_at, id)',
  ]);
});
