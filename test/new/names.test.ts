import { expect, test } from 'vitest';
import { withoutOwn } from '../../scripts/new/left-out.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { renameText } from '../../scripts/new/rename.ts';
import { refusalOf, wordsOf } from '../../scripts/new/taken.ts';
import { withoutEntries, withoutSpans } from '../../scripts/without.ts';

const PARCEL = namesOf({ entity: 'parcel' });
const ORCHARD = namesOf({ entity: 'orchard' });
const PERSON = namesOf({ entity: 'person', plural: 'people', name: 'acme' });

test.each([
  ['pet Pet PET pets Pets PETS', 'person Person PERSON people People PEOPLE'],
  [
    'newPet listPets PET_STATUSES petId pets_id_seq nPets',
    'newPerson listPeople PERSON_STATUSES personId people_id_seq nPeople',
  ],
  ['AnimalStoreError createAnimalStore animalStore', 'AcmeError createAcme acme'],
  ['ANIMAL_STORE_KEY animal_store_x animal-store-backup Animal Store', 'ACME_KEY acme_x acme-backup Acme'],
  ['"\\npet" "\\tpets" %2Fpets', '"\\nperson" "\\tpeople" %2Fpeople'],
])('%s becomes %s', (text, renamed) => {
  expect(renameText(text, PERSON)).toBe(renamed);
});

test.each(['competition', 'repetition', 'escapeText', 'CRPETMctyj', 'petition', 'carpet', 'animalistic'])(
  '%s stays, because it only contains the letters',
  (word) => {
    expect(renameText(word, PARCEL)).toBe(word);
  },
);

test.each([
  ['a pet', 'an orchard', 'a parcel'],
  ['A `Pet`', 'An `Orchard`', 'A `Parcel`'],
  ['an animal', 'an orchard', 'a parcel'],
  ['an Animal Store', 'an Orchard Store', 'a Parcel Store'],
  ['a\n * pet', 'an\n * orchard', 'a\n * parcel'],
  ['#make-a-pet', '#make-an-orchard', '#make-a-parcel'],
  ["-a 'animal-store'", "-a 'orchard-store'", "-a 'parcel-store'"],
  ['an {@link AnimalStore}', 'an {@link OrchardStore}', 'an {@link ParcelStore}'],
])('the article of %j is right', (text, orchard, parcel) => {
  expect([renameText(text, ORCHARD), renameText(text, PARCEL)]).toEqual([orchard, parcel]);
});

test.each([
  [
    { entity: 'Parcel' },
    "--entity: expected one word of 2 to 30 letters from a to z, such as parcel, got 'Parcel'",
  ],
  [
    { entity: 'gift card' },
    "--entity: expected one word of 2 to 30 letters from a to z, such as parcel, got 'gift card'",
  ],
  ...['bus', 'box', 'quiz', 'city', 'match', 'dish'].map(
    (entity) =>
      [
        { entity },
        `--entity ${entity}: its plural is not certain: add --plural, such as --plural ${entity}es`,
      ] as const,
  ),
  [
    { entity: 'sheep', plural: 'sheep' },
    '--plural: expected another word than sheep: paths and folders need both',
  ],
  [
    { entity: 'parcel', name: 'Parcel Store' },
    "--name: expected a package name of at most 40 characters such as parcel-store, got 'Parcel Store'",
  ],
] as const)('%j is refused', (request, message) => {
  expect(() => namesOf(request)).toThrow(message);
});

test('words of identifiers, files, tables, languages and platforms are refused', () => {
  const used = wordsOf([
    {
      path: 'src/crate/box.ts',
      text: "const bigBarrel = '// parcel'; // a widget\ndb.exec(`CREATE TABLE pallets (weight)`);",
    },
  ]);
  const refused = ['crate', 'barrel', 'pallets', 'weight', 'class', 'select', 'event', 'map'];
  expect(refused.filter((word) => refusalOf(word, used) === undefined)).toEqual([]);
  expect(['parcel', 'widget', 'orchard'].map((word) => refusalOf(word, used))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('marked blocks and lines are left out, and a mark without its counterpart is an error', () => {
  const [begin, end] = ['<!-- only this project: from here -->\n', '// only this project: to here\n'];
  const marked = `a\n${begin}b\n${end}c\nd // only this project\ne # only this project\n${begin}f\n${end}`;
  expect(withoutOwn(marked, 'x.ts')).toBe('a\nc\n');
  for (const text of [`a\n${begin}b\n`, `a\n${end}b\n`])
    expect(() => withoutOwn(text, 'x.ts')).toThrow('x.ts: a mark has no counterpart');
  const links =
    '[quick](performance.md#memory), [api](api.md), [it](../docs/performance.md), [new](../scripts/new/names.ts)';
  expect(withoutOwn(links, 'docs/x.md')).toBe('quick, [api](api.md), it, new');
});

test('a deletion deletes the scripts that need a deleted file, and one argument of the others', () => {
  const scripts = {
    accept: 'vitest run a test/x || exit 1',
    x: 'node x/main.ts',
    y: 'node y.ts',
    z: 'node z.ts',
  };
  const text = JSON.stringify({ exports: { './x': './dist/x/a.js', '.': './dist/a.js' }, scripts });
  expect(JSON.parse(withoutEntries(text, ['test/x', 'x', 'src/x', 'y.ts']))).toEqual({
    exports: { '.': './dist/a.js' },
    scripts: { accept: 'vitest run a || exit 1', z: 'node z.ts' },
  });
});

test('a deletion also deletes what the manuals say of the files', () => {
  const manual = [
    'It waits (`src/adapters/x/a.ts`, twice). See `x/a.ts` or `y/b.ts`.',
    '| `src/adapters/x` | a test |',
    '| `src/adapters/x`, `src/y.ts` | another |',
    '',
  ];
  expect(withoutSpans(manual.join('\n'), ['src/adapters/x'])).toBe(
    'It waits. See or `y/b.ts`.\n| `src/y.ts` | another |\n',
  );
});
