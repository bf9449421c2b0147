import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, type PetPageQuery } from '../../../application/list-pets.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import type { Pet } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { CREATE_STORE, callerWith, ifMatchTags, int64, JSON_RESULT, pageLimit } from '../arguments.ts';
import { printResult } from '../console.ts';
import { CommandError, isBrokenPipe } from '../errors.ts';
import { table } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import {
  attributeOptions,
  changeOptions,
  filterOptions,
  PET_HEAD,
  petCells,
  REMOVED,
} from '../pet-attributes.ts';
import { READING, withStore } from '../store.ts';

const ID = ['<id>', 'the id of the pet', int64] as const;
const LIMIT = `how many pets, from ${LIMIT_MIN} to ${LIMIT_MAX} (default: ${LIMIT_DEFAULT})`;
const IF_MATCH = [
  '--if-match <tag>',
  'only the version with this entity tag, such as the etag that changes prints',
  ifMatchTags,
] as const;
const KEY = [
  '--idempotency-key <key>',
  'a repeated command with the same key writes nothing more',
  callerWith,
] as const;

interface ListFlags extends PetPageQuery {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Defines the commands that read and write pets, such as `pets list`. */
export function definePets(program: Command, options: CommandOptions): void {
  const { signal } = options;
  const pets = program.command('pets').description('list, read, create, change and remove pets');
  const list = pets.command('list').description('show a page of pets, in ascending order of id');
  for (const option of filterOptions()) list.addOption(option);
  list
    .option('--limit <number>', LIMIT, pageLimit)
    .option('--after <id>', 'only pets with a greater id', int64)
    .addOption(new Option('--all', 'all pets, page by page, however many').conflicts('limit'))
    .option(...JSON_RESULT)
    .action((flags: ListFlags) => listPets(flags, options));
  pets
    .command('get')
    .description('show one pet')
    .argument(...ID)
    .option(...JSON_RESULT)
    .action(async (id, { json }) => {
      const pet = await withStore(options, 'pets', READING, (store) => store.getPet(id, { signal }));
      await print(pet, json, options);
    });
  const create = pets.command('create').description('create a pet, and show it when it is durable');
  for (const option of attributeOptions()) create.addOption(option);
  create
    .option(...KEY)
    .option(...CREATE_STORE)
    .option(...JSON_RESULT)
    .action(async ({ idempotencyKey: caller, createStore = false, json, ...input }) => {
      const createIn = (store: AnimalStore) => store.createPetOnce(input, caller, { signal });
      await writeOnce('created', json, options, createIn, createStore);
    });
  const change = pets
    .command('change')
    .description('change attributes of a pet, and show it when the change is durable')
    .argument(...ID);
  for (const option of changeOptions()) change.addOption(option);
  change
    .option(...IF_MATCH)
    .option(...KEY)
    .option(...JSON_RESULT)
    .action(async (id, { ifMatch = '*', idempotencyKey: caller, json, ...values }) => {
      if (Object.keys(values).length === 0) change.error('expected an option of an attribute');
      const entries = Object.entries(values).map(([name, value]) => [name, value === REMOVED ? null : value]);
      await writeOnce('changed', json, options, (store) =>
        store.changePetOnce(id, Object.fromEntries(entries), caller, { ifMatch, signal }),
      );
    });
  pets
    .command('remove')
    .description('remove a pet')
    .argument(...ID)
    .option(...IF_MATCH)
    .option(...KEY)
    .option(...JSON_RESULT)
    .action(async (id, { ifMatch = '*', idempotencyKey: caller, json }) => {
      await writeOnce('removed', false, options, (store) =>
        store.removePetOnce(id, caller, { ifMatch, signal }),
      );
      await printResult(options.console, `Pet ${id} is removed.`, `{"removed":${id}}`, json);
    });
}

/** Calls `write`, and shows the resulting pet. If the outcome is unknown, prints the idempotency key for a retry. */
async function writeOnce(
  written: 'created' | 'changed' | 'removed',
  json: boolean,
  options: CommandOptions,
  write: (store: AnimalStore) => Promise<{ readonly pet?: Pet; readonly isReplay: boolean }>,
  createStore?: boolean,
): Promise<void> {
  const result = await withStore(options, 'pets', { createStore }, write).catch((error: Error) => {
    if (error === options.signal.reason) throw new CommandError('interrupted; nothing was changed');
    const known = asAnimalStoreError(error);
    const key = `--idempotency-key ${known?.idempotencyKey}`;
    throw known ? new CommandError(known.message.replaceAll('the same Idempotency-Key', () => key)) : error;
  });
  const { pet, isReplay } = result;
  if (isReplay) options.console.err(`This pet was ${written} earlier with the same idempotency key.\n`);
  if (pet === undefined) return;
  await print(pet, json, options).catch((error: Error) => {
    if (!isBrokenPipe(error)) throw new CommandError(`pet ${pet.id} was ${written}, but ${error.message}`);
  });
}

/** Shows a page of pets. With `all`, shows each page as soon as it is read. */
async function listPets({ all, json, ...query }: ListFlags, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  await withStore(options, 'pets', READING, async (store) => {
    const widths = PET_HEAD.map(() => (all ? 10 : 0)); // Leaves room for longer ids on later pages.
    let last: bigint | undefined;
    let hasMore = false;
    do {
      const page = { ...query, ...(all && { limit: LIMIT_MAX, after: last ?? query.after }) };
      const { pets, more } = await store.listPage(page, { signal });
      const isFirst = last === undefined;
      const rows = () => [...(isFirst ? [PET_HEAD] : []), ...pets.map(petCells)];
      const text = json ? (isFirst ? '[\n' : ',\n') + pets.map(petJson).join(',\n') : table(rows(), widths);
      if (pets.length > 0) await console.outData(text);
      last = pets.at(-1)?.id ?? last;
      hasMore = more;
    } while (all && hasMore);
    if (json) await console.outData(last === undefined ? '[]\n' : '\n]\n');
    else if (last === undefined) console.err('No pet matches.\n');
    if (hasMore) console.err(`More pets follow: --after ${last} shows the next page, --all shows all.\n`);
  });
}

async function print(pet: Pet, json = false, { console }: CommandOptions): Promise<void> {
  await console.outData(json ? `${petJson(pet)}\n` : table([PET_HEAD, petCells(pet)]));
}
