import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { THIS_PROGRAM } from '../../../application/create-pet.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, type PetPageQuery } from '../../../application/list-pets.ts';
import type { Caller } from '../../../application/versioned-writes.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import type { Pet } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { CREATE_STORE, ifMatchTags, int64, pageLimit } from '../arguments.ts';
import { printResult, writeLong } from '../console.ts';
import { CommandError, isBrokenPipe } from '../errors.ts';
import type { CommandOptions } from '../options.ts';
import {
  attributeOptions,
  changeOptions,
  filterOptions,
  PET_HEAD,
  petCells,
  REMOVED,
} from '../pet-attributes.ts';
import { readStore, withStore } from '../store.ts';
import { table } from '../table.ts';

const LIMIT = `how many pets, from ${LIMIT_MIN} to ${LIMIT_MAX} (default: ${LIMIT_DEFAULT})`;

const IF_MATCH = 'only the version with this entity tag, such as the etag that changes prints';

interface ListFlags extends PetPageQuery {
  readonly all?: boolean;
  readonly json?: boolean;
}

export function definePets(program: Command, options: CommandOptions): void {
  const pets = program.command('pets').description('list, read, create, change and remove pets');
  const list = pets.command('list').description('show a page of pets, in ascending order of id');
  for (const option of filterOptions()) list.addOption(option);
  list
    .option('--limit <number>', LIMIT, pageLimit)
    .option('--after <id>', 'only pets with a greater id', int64)
    .addOption(new Option('--all', 'all pets, page by page, however many').conflicts('limit'))
    .option('--json', 'print an array in JSON')
    .action((flags: ListFlags) => listPets(flags, options));
  pets
    .command('get')
    .description('show one pet')
    .argument('<id>', 'the id of the pet', int64)
    .option('--json', 'print the pet as JSON')
    .action(async (id, { json }) => {
      await print(await readStore(options, 'pets', (store) => store.getPet(id)), json, options);
    });
  const create = pets.command('create').description('create a pet, and show it when it is durable');
  for (const option of attributeOptions()) create.addOption(option);
  create
    .option('--idempotency-key <key>', 'the same key and the same pet again create no second pet')
    .option(...CREATE_STORE)
    .option('--json', 'print the pet as JSON')
    .action(async ({ idempotencyKey, createStore = false, json, ...input }) => {
      const createIn = async (store: AnimalStore) =>
        idempotencyKey === undefined
          ? { pet: await store.createPet(input), isReplay: false }
          : await store.createPetOnce(input, THIS_PROGRAM, idempotencyKey);
      const { pet } = await writeOnce('created', options, createIn, createStore);
      await printWritten('created', pet, json, options);
    });
  const change = pets
    .command('change')
    .description('change attributes of a pet, and show it when the change is durable')
    .argument('<id>', 'the id of the pet', int64);
  for (const option of changeOptions()) change.addOption(option);
  change
    .option('--if-match <tag>', IF_MATCH, ifMatchTags)
    .option('--idempotency-key <key>', 'the same key and the same change again change nothing more')
    .option('--json', 'print the pet as JSON')
    .action(async (id, { ifMatch = '*', idempotencyKey, json, ...values }) => {
      if (Object.keys(values).length === 0) change.error('expected an option of an attribute');
      const entries = Object.entries(values).map(([name, value]) => [name, value === REMOVED ? null : value]);
      const { pet } = await writeOnce('changed', options, (store) =>
        store.changePetOnce(id, Object.fromEntries(entries), ifMatch, callerOf(idempotencyKey)),
      );
      await printWritten('changed', pet, json, options);
    });
  pets
    .command('remove')
    .description('remove a pet')
    .argument('<id>', 'the id of the pet', int64)
    .option('--if-match <tag>', IF_MATCH, ifMatchTags)
    .option('--idempotency-key <key>', 'the same key and the same removal again remove nothing more')
    .action(async (id, { ifMatch = '*', idempotencyKey }) => {
      await writeOnce('removed', options, (store) =>
        store.removePetOnce(id, ifMatch, callerOf(idempotencyKey)),
      );
      await printResult(options.console, `Pet ${id} is removed.`, {});
    });
}

function callerOf(key: string | undefined): Caller | undefined {
  return key === undefined ? undefined : { caller: THIS_PROGRAM, key };
}

/** Makes a write, and says when it was made earlier, and with which option one whose outcome is unknown is repeated. */
async function writeOnce<T extends { readonly isReplay: boolean }>(
  written: 'created' | 'changed' | 'removed',
  options: CommandOptions,
  write: (store: AnimalStore) => Promise<T>,
  createStore?: boolean,
): Promise<T> {
  const result = await withStore(options, 'pets', write, createStore).catch((error: Error) => {
    const key = asAnimalStoreError(error)?.idempotencyKey;
    throw key === undefined ? error : new CommandError(`${error.message}: add --idempotency-key ${key}`);
  });
  if (result.isReplay)
    options.console.err(`This pet was ${written} earlier with the same idempotency key.\n`);
  return result;
}

async function printWritten(
  written: 'created' | 'changed',
  pet: Pet,
  json: boolean | undefined,
  options: CommandOptions,
): Promise<void> {
  await print(pet, json, options).catch((error: Error) => {
    throw isBrokenPipe(error)
      ? error
      : new CommandError(`pet ${pet.id} was ${written}, but ${error.message}`);
  });
}

/** With `all`, the pets are written while they are read. */
async function listPets({ all, json, ...query }: ListFlags, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  let last: bigint | undefined;
  let hasMore = false;
  await writeLong(options, 'the list is not complete', (write) =>
    readStore(options, 'pets', async (store) => {
      do {
        const page = { ...query, ...(all && { limit: LIMIT_MAX, after: last ?? query.after }) };
        const { pets, more } = await store.listPage(page, { signal });
        const isFirst = last === undefined;
        const rows = () => [...(isFirst ? [PET_HEAD] : []), ...pets.map(petCells)];
        const text = json ? (isFirst ? '[\n' : ',\n') + pets.map(petJson).join(',\n') : table(rows());
        if (pets.length > 0) await write(text);
        last = pets.at(-1)?.id ?? last;
        hasMore = more;
      } while (all && hasMore);
      if (json) await write(last === undefined ? '[]\n' : '\n]\n');
      else if (last === undefined) console.err('No pet matches.\n');
      if (hasMore) console.err(`More pets follow: --after ${last} shows the next page, --all shows all.\n`);
    }),
  );
}

async function print(pet: Pet, json = false, { console }: CommandOptions): Promise<void> {
  await console.outData(json ? `${petJson(pet)}\n` : table([PET_HEAD, petCells(pet)]));
}
