import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import type { ImportedPet } from '../../../domain/pet.ts';
import { parsePetMembers } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { CREATE_STORE, file, JSON_RESULT } from '../arguments.ts';
import { printResult, refuseClosedOutput } from '../console.ts';
import { CommandError } from '../errors.ts';
import { counted } from '../format.ts';
import { chunksOf, type Line, linesOfPets, openInput, readLines } from '../input.ts';
import type { CommandOptions } from '../options.ts';
import { withStore } from '../store.ts';

type Flags = Partial<Record<'dryRun' | 'skipInvalid' | 'newIds' | 'createStore' | 'json', boolean>>;

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

export function defineImport(program: Command, options: CommandOptions): void {
  program
    .command('import')
    .description('import the pets of a file or of another store, all or none')
    .argument(
      '<file-or-store>',
      'a file with one pet in JSON per line, - for standard input, or a database URL',
      file,
    )
    .addOption(new Option('--dry-run', 'check everything, but import nothing').conflicts('createStore'))
    .option('--skip-invalid', 'leave out invalid lines, and write them to standard output')
    .option('--new-ids', 'assign new ids, and ignore those of the pets')
    .option(...CREATE_STORE)
    .addOption(new Option(...JSON_RESULT).conflicts('skipInvalid'))
    .action((from, flags) => importPets(from, flags, options));
}

async function importPets(from: string, flags: Flags, options: CommandOptions): Promise<void> {
  const { console } = options;
  const { dryRun = false, skipInvalid, createStore = false, json } = flags;
  if (skipInvalid) refuseClosedOutput(console);
  const { lines, close, place } = await openSource(from, options);
  const work = (store: AnimalStore) => importLines(store, lines, flags, options);
  const access = { createStore: dryRun ? undefined : createStore, onlyReads: dryRun };
  const { count, skipped } = await withStore(options, 'import', access, work).finally(close);
  const pets = counted(count, 'pet', 'pets');
  const done = dryRun ? `Dry run: ${pets} can be imported` : `Imported ${pets}`;
  const source = place === undefined ? '' : ` from ${place}`;
  const omitted = skipped > 0 ? `, skipped ${counted(skipped, 'line')}` : '';
  const counts = dryRun ? { dryRun, imported: 0, importable: count } : { imported: count };
  // With --skip-invalid, standard output contains the refused lines, so the result goes to standard error.
  const output = skipInvalid ? { ...console, out: async (text: string) => console.err(text) } : console;
  await printResult(output, `${done}${source}${omitted}.`, { ...counts, skipped }, json);
  if (count + skipped === 0 && place === undefined) console.err('warning: the input has no pets\n');
}

/** Opens the store or the file that `from` names. `place` is the location of the store, or `undefined` for a file. */
async function openSource(from: string, options: CommandOptions) {
  const { console, databaseUrl, signal } = options;
  const source = await options.openSource(from, databaseUrl);
  if (source === undefined) {
    if (from === '-' && console.isInputClosed) throw new CommandError('standard input is closed');
    const stream = await openInput(from, console.stdin, signal);
    return { lines: readLines(chunksOf(stream, from)), place: undefined, close: () => stream.destroy() };
  }
  const { store, place } = source;
  return { lines: linesOfPets(store.exportPets({}, { signal })), place, close: () => store.close() };
}

/**
 * Imports the pets in the lines. Without `skipInvalid`, the first refused line ends the import. With it, all refused lines are
 * written to standard output, in their original order.
 */
async function importLines(
  store: AnimalStore,
  batches: AsyncIterable<readonly Line[]>,
  { dryRun, skipInvalid, newIds }: Flags,
  { console, signal }: CommandOptions,
) {
  let count = 0;
  let skipped = 0;
  let isRead = false;
  let refused: Line[] = [];
  const writeRefused = async (): Promise<void> => {
    const [first] = refused.sort((one, other) => one.number - other.number);
    if (first === undefined) return;
    if (!skipInvalid) throw new CommandError(`line ${first.number}: ${first.fault}`);
    const lines = refused.filter(({ fault }) => fault !== '');
    console.err(lines.map(({ number, fault = '' }) => `line ${number}: ${visible(fault)}\n`).join(''));
    await console.outData(Buffer.concat(refused.map(({ bytes }) => Buffer.from(bytes))));
    skipped += lines.length;
    refused = [];
  };
  const pets = async function* () {
    for await (const lines of batches) {
      const batch = lines.flatMap((line) => {
        try {
          return petOf(line, newIds);
        } catch (error) {
          refused.push({ ...line, fault: (error as Error).message });
          return [];
        }
      });
      count += batch.length;
      // The application calls `onRefused` for the invalid pets of this batch before it requests the next batch.
      yield batch;
      await writeRefused();
      console.progress(`Reading ${counted(count, 'pet', 'pets')}`);
    }
    isRead = true;
  };
  try {
    const imported = await store.importPets(pets(), {
      dryRun,
      onRefused(pet, fault) {
        count -= 1;
        refused.push({ ...(pet as PetOfLine).line, fault });
      },
      onProgress: (stored) => console.progress('Storing', stored / count),
      signal,
    });
    return { count: imported, skipped };
  } catch (error) {
    // `onRefused` handles invalid pets, so `invalid_request` means that the store accepts no pets with ids.
    const isRefused = asAnimalStoreError(error)?.code === 'invalid_request';
    // If storing the pets fails, the message says what is known about the outcome, so nothing is added to it.
    if (isRead && !isRefused) throw error;
    throw new CommandError(`${(error as Error).message}; nothing was imported`, { cause: error });
  }
}

/** Returns no pet for a blank line. The application checks later whether the pet is valid. */
function petOf(line: Line, newIds = false): PetOfLine[] {
  if (line.fault !== undefined) throw new Error(line.fault);
  if (line.text.trim() === '') return [];
  const { id, ...members } = parsePetMembers(line.text);
  return [{ ...members, id: newIds ? undefined : id, line }];
}
