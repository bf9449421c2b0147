import { expect, test } from 'vitest';
import { renameFiles } from '../../scripts/new/collisions.ts';
import { articleOf, namesOf, nounsText } from '../../scripts/new/names.ts';
import { withOtherNouns } from '../../scripts/new/nouns.ts';
import { renameText } from '../../scripts/new/rename.ts';

const PARCEL = namesOf({ entity: 'parcel' });
const ORCHARD = namesOf({ entity: 'orchard' });
const PERSON = namesOf({ entity: 'person', plural: 'people', name: 'acme' });

test.each([
  ['pet Pet PET pets Pets PETS', 'person Person PERSON people People PEOPLE'],
  ['newPet listPets PET_STATUSES', 'newPerson listPeople PERSON_STATUSES'],
  ['petId pets_id_seq nPets', 'personId people_id_seq nPeople'],
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
  ['an {@link AnimalStore}', 'an {@link OrchardStore}', 'a {@link ParcelStore}'],
  ['a {@link Pet}', 'an {@link Orchard}', 'a {@link Parcel}'],
])('the article of %j is right', (text, orchard, parcel) => {
  expect([renameText(text, ORCHARD), renameText(text, PARCEL)]).toEqual([orchard, parcel]);
});

test('the article of a word depends on its sound', () => {
  const words =
    'unit unimportant-note unidentified-object url uuid user-role sms-log smell hour mri-scan lms-course rfid-tag llama rhyme mnemonic';
  expect(words.split(' ').map(articleOf).join(' ')).toBe('a an an a a a an a an an an an a a a');
});

test.each([
  ['newPet PET_STATUSES pet_id', 'newLineItem LINE_ITEM_STATUSES line_item_id'],
  ['Pets are new. Pets, the type Pet', 'Line items are new. Line items, the type LineItem'],
  ['a pet, `Pet`, "pet": 1', 'a line item, `LineItem`, "lineItem": 1'],
  ['GET /v1/pets/{petId}', 'GET /v1/line-items/{lineItemId}'],
  ['pets.db pet-rows.ts', 'line-items.db line-item-rows.ts'],
  ['INSERT INTO pets (id)', 'INSERT INTO line_items (id)'],
  ['main.pets EXCEPT SELECT name FROM copy.pets', 'main.line_items EXCEPT SELECT name FROM copy.line_items'],
  ['animal-store pets create', 'shop line-items create'],
  ['key pets_1', 'key line_items_1'],
  ['`Pet${', '`LineItem${'],
  ['`petJson(pet)`, table_info(pets)', '`lineItemJson(lineItem)`, table_info(line_items)'],
  ['no row in `pets`, a column of `pets`', 'no row in `line_items`, a column of `line_items`'],
])('two words: %s becomes %s', (text, renamed) => {
  expect(renameText(text, namesOf({ entity: 'line item', name: 'shop' }))).toBe(renamed);
});

test('the name of the project is taken as it is given', () => {
  expect(renameText('animal-store of pets', namesOf({ entity: 'dog', name: 'pet-shop' }))).toBe(
    'pet-shop of dogs',
  );
});

const PLURALS =
  'box boxes, story stories, day days, person people, bus buses, batch batches, analysis analyses, shelf shelves, sheep sheep, news news, epoch epochs, policeman policemen, human humans, grandchild grandchildren';

test.each([
  ...PLURALS.split(', ').map((pair) => pair.split(' ')),
  ['line item', 'line items'],
  ['gift-box', 'gift boxes'],
])('the plural of %s is %s', (entity = '', plural) => {
  expect(namesOf({ entity }).plural.join(' ')).toBe(plural);
});

test.each([
  [
    { entity: 'Parcel' },
    "--entity: expected one to three words of 2 to 30 letters from a to z, at most 50 in all, such as parcel or 'line item', got 'Parcel'",
  ],
  [{ entity: `${'a'.repeat(30)} ${'b'.repeat(20)}` }, 'at most 50 in all'],
  [
    { entity: 'cursor' },
    "--entity 'cursor': requests and responses have a member or parameter of this name: choose another word",
  ],
  [
    { entity: 'api key' },
    "--entity 'api key': the keys that callers have are called so: choose another word",
  ],
  [{ entity: 'key' }, "--entity 'key': the keys that callers have are called so: choose another word"],
  [{ entity: 'undefined' }, "--entity 'undefined': JavaScript has a value of this name: choose another word"],
  [
    { entity: 'value' },
    "--entity 'value' has the plural 'values': SQL reserves this word: choose another plural with --plural",
  ],
  [{ entity: 'order', plural: 'order' }, "--plural 'order': SQL reserves this word: choose another plural"],
  [{ entity: 'man', plural: 'current user' }, "--plural 'current user': SQL reserves this word"],
  ...['api keys', 'epoch', 'man revisions', 'man store schema'].map(
    (plural) =>
      [
        { entity: 'man', plural },
        `--plural '${plural}': each store has a table of this name: choose another plural`,
      ] as const,
  ),
  ...['backup', 'keys'].map(
    (plural) => [{ entity: 'man', plural }, `--plural '${plural}': another command has this name`] as const,
  ),
  [{ entity: 'man', plural: 'pg class' }, "--plural 'pg class': databases reserve names that begin so"],
  [{ entity: 'sqlite file' }, "--entity 'sqlite file': databases reserve names that begin so"],
  [
    { entity: 'parcel', name: 'Parcel Store' },
    "--name: expected a package name of at most 32 characters such as parcel-store, got 'Parcel Store'",
  ],
  [{ entity: 'parcel', name: 'a'.repeat(33) }, 'of at most 32 characters'],
  [{ entity: 'customer support conversation' }, "got the default 'customer-support-conversation-store'"],
] as const)('%j is refused', (request, message) => {
  expect(() => namesOf(request)).toThrow(message);
});

test('a word that looks like a plural gets a hint', () => {
  expect(nounsText(namesOf({ entity: 'orders' }))).toContain(
    'called orderses: --plural changes it. If orders is a plural, give --entity the singular.',
  );
  for (const entity of ['order', 'bus', 'address', 'news'])
    expect(nounsText(namesOf({ entity }))).toMatch(/: --plural changes it\.$/);
});

/** Renames one file, and returns its text. */
function renamed(text: string, entity: string, path = 'a.ts'): string | undefined {
  return renameFiles([{ path, text }], namesOf({ entity }))[0]?.text;
}

test.each([
  [
    'a variable of the same name',
    'const message = pet.name;',
    'message',
    'const message = messageRecord.name;',
  ],
  ['no such variable', 'const message = 1; f(x.pet);', 'message', 'const message = 1; f(x.message);'],
  ['a short member', 'const file = 1; f({ pet });', 'file', 'const file = 1; f({ file: fileRecord });'],
  ['a keyword', 'const pet = f(a.pet);', 'package', 'const packageRecord = f(a.package);'],
  ['a global', 'type A = Pet | Event;', 'event', 'type A = EventRecord | Event;'],
  ['a member', 'f({ pet, name }, a.pet)', 'name', 'f({ nameRecord, name }, a.nameRecord)'],
  [
    'one word for one and several',
    'for (const pet of pets) f(pet);',
    'sheep',
    'for (const sheep of sheepList) f(sheep);',
  ],
  [
    'one word for one and several, in an example and in a message',
    "/**\n * ```ts\n * const { pets } = page;\n * f(page.pets);\n * ```\n */\nf('storage.pets', `storage.pets: x`, ` storage.pets.add`);\nconst page = { pet, pets };",
    'sheep',
    "/**\n * ```ts\n * const { sheepList } = page;\n * f(page.sheepList);\n * ```\n */\nf('storage.sheepList', `storage.sheepList: x`, ` storage.sheepList.add`);\nconst page = { sheep, sheepList };",
  ],
  [
    'one word for one and several, in the tag of operations',
    "const pets = f({ tags: [{ name: 'pets' }] }, { tags: ['pets'] }, 'pets'); export const a = { pet, pets };",
    'sheep',
    "const sheepList = f({ tags: [{ name: 'sheep' }] }, { tags: ['sheep'] }, 'sheepList'); export const a = { sheep, sheepList };",
  ],
  [
    'a comment',
    '/** A pet: {@link Pet}. */\nexport type Pet = Error;',
    'error',
    '/** An error: {@link ErrorRecord}. */\nexport type ErrorRecord = Error;',
  ],
])('a name that is taken: %s', (_, text, entity, expected) => {
  expect(renamed(text, entity)).toBe(expected);
});

test('commands and paths that have the name of the records get another one', () => {
  const text = "run(['keys', 'create']); // `animal-store keys list`, pets list, /v1/changes";
  const path = 'test/e2e/x.ts';
  const nameOf = (entity: string) => renamed(withOtherNouns(text, path, `${entity}s`), entity, path);
  expect(nameOf('change')).toBe(
    "run(['keys', 'create']); // `change-store keys list`, changes list, /v1/feed",
  );
});

test('what a file exports has one name in all files, and a path that exists is not used twice', () => {
  const files = [
    { path: 'x/pets.ts', text: 'export function newPet() {}' },
    { path: 'x/files.ts', text: "import { newPet } from './pets.ts';\nconst newFile = newPet();" },
    { path: 'README.md', text: '`newPet` of [pets](x/pets.ts): files' },
  ];
  expect(renameFiles(files, namesOf({ entity: 'file' }))).toEqual([
    { path: 'x/file-records.ts', text: 'export function newFileRecord() {}' },
    {
      path: 'x/files.ts',
      text: "import { newFileRecord } from './file-records.ts';\nconst newFile = newFileRecord();",
    },
    { path: 'README.md', text: '`newFileRecord` of [files](x/file-records.ts): files' },
  ]);
});
