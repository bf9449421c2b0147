import { once } from 'node:events';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { THIS_PROGRAM } from '../../../application/create-pet-once.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import type { Pet, PetStatus } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { CommandError, isBrokenPipe } from '../errors.ts';
import type { CommandOptions, JsonFlag } from '../options.ts';
import { table } from '../output/table.ts';
import { withStore } from './store.ts';

export interface ListFlags extends JsonFlag {
  readonly status?: PetStatus;
  readonly limit?: number;
  readonly after?: bigint;
  readonly all?: boolean;
}

export interface CreateFlags extends JsonFlag {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: PetStatus;
  readonly idempotencyKey?: string;
  readonly createStore?: boolean;
}

const HEAD = ['ID', 'NAME', 'CATEGORY', 'STATUS'];

/** With `all`, the pets are written while they are read. */
export async function listPets(
  { status, limit, after, all = false, json = false }: ListFlags,
  options: CommandOptions,
): Promise<void> {
  const { console, signal } = options;
  const query = { status, after, ...(limit === undefined ? {} : { limit }) };
  // A slow reader of standard output must not delay the exit.
  const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
  aborted.catch(() => {});
  const write = (text: string) => Promise.race([aborted, console.outRaw(text)]);
  await withStore(options, 'pets', async (store) => {
    const format = json ? jsonLines() : tables(options);
    let rest: bigint | undefined;
    let isEmpty = true;
    try {
      for await (const { pets, more } of pagesOf(store, query, all, signal)) {
        if (pets.length > 0) await write(format.page(pets));
        isEmpty &&= pets.length === 0;
        rest = more && !all ? pets.at(-1)?.id : undefined;
      }
      await write(format.end());
    } catch (error) {
      if (isBrokenPipe(error)) return;
      throw signal.aborted ? new CommandError('interrupted; the list is not complete') : error;
    }
    if (isEmpty && !json) console.err('No pet matches.\n');
    if (rest !== undefined)
      console.err(`More pets follow: --after ${rest} shows the next page, --all shows all.\n`);
  });
}

export async function getPet(id: bigint, { json }: JsonFlag, options: CommandOptions): Promise<void> {
  await print(await withStore(options, 'pets', (store) => store.getPet(id)), json, options);
}

export async function createPet(
  { name, categoryId, status, idempotencyKey, createStore = false, json }: CreateFlags,
  options: CommandOptions,
): Promise<void> {
  const input = { name, categoryId, status };
  const create = async (store: AnimalStore): Promise<Pet> => {
    if (idempotencyKey === undefined) return await store.createPet(input);
    const { pet, isReplay } = await store.createPetOnce(input, THIS_PROGRAM, idempotencyKey);
    if (isReplay) options.console.err('This pet was created earlier with the same idempotency key.\n');
    return pet;
  };
  const pet = await withStore(options, 'pets', create, createStore).catch((error: unknown) => {
    const key = asAnimalStoreError(error)?.idempotencyKey;
    if (key === undefined) throw error;
    throw new CommandError(`${(error as Error).message}: add --idempotency-key ${key}`);
  });
  await print(pet, json, options).catch((error: unknown) => {
    throw isBrokenPipe(error)
      ? error
      : new CommandError(`pet ${pet.id} was created, but ${(error as Error).message}`);
  });
}

async function* pagesOf(
  store: AnimalStore,
  query: {
    readonly status: PetStatus | undefined;
    readonly limit?: number;
    readonly after: bigint | undefined;
  },
  all: boolean,
  signal: AbortSignal,
) {
  let after = query.after;
  for (;;) {
    const page = await store.listPage(all ? { ...query, limit: 100, after } : query, { signal });
    yield page;
    if (!all || !page.more) return;
    after = page.pets.at(-1)?.id;
  }
}

async function print(pet: Pet, json = false, { console }: CommandOptions): Promise<void> {
  await console.outRaw(json ? `${petJson(pet)}\n` : table(HEAD, [rowOf(pet)], console.outScreen));
}

/** An array with one pet per line. */
function jsonLines() {
  let separator = '[\n';
  return {
    page(pets: readonly Pet[]) {
      const text = separator + pets.map(petJson).join(',\n');
      separator = ',\n';
      return text;
    },
    end: () => (separator === '[\n' ? '[]\n' : '\n]\n'),
  };
}

/** The columns of a page are at least as wide as those of the pages before it. */
function tables({ console: { outScreen } }: CommandOptions) {
  const widths: number[] = [];
  let head: readonly string[] | undefined = HEAD;
  return {
    page(pets: readonly Pet[]) {
      const text = table(head, pets.map(rowOf), outScreen, widths);
      head = undefined;
      return text;
    },
    end: () => '',
  };
}

function rowOf({ id, name, categoryId, status }: Pet) {
  return { cells: [String(id), name, String(categoryId), status] };
}
