import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import type { ImportedPet } from '../../../domain/pet.ts';
import { parsePetMembers } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { CREATE_STORE, JSON_RESULT } from '../arguments.ts';
import { printResult, resultText } from '../console.ts';
import { CommandError } from '../errors.ts';
import { counted, duration } from '../format.ts';
import { chunksOf, linesOfPets, openInput } from '../input.ts';
import { type Line, readLines } from '../lines.ts';
import type { CommandOptions } from '../options.ts';
import { type Progress, withProgress } from '../progress.ts';
import { withStore } from '../store.ts';

interface Flags {
  readonly dryRun?: boolean;
  readonly skipInvalid?: boolean;
  readonly newIds?: boolean;
  readonly createStore?: boolean;
  readonly json?: boolean;
}

/** What is imported. */
interface Source {
  readonly lines: AsyncIterable<readonly Line[]>;
  /** ` from PLACE` for a store. */
  readonly place: string;
  /** What a user should know after the import. */
  readonly notice: string;
  readonly share?: (() => number | undefined) | undefined;
  readonly close: () => unknown;
}

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

const PETS_ALONE = 'Only pets were copied, without API keys and without the records of idempotency keys.\n';

export function defineImport(program: Command, options: CommandOptions): void {
  program
    .command('import')
    .description('import the pets of a file or of another store, all or none')
    .argument(
      '<file-or-store>',
      'a file with one pet in JSON per line, - for standard input, or a database URL',
    )
    .addOption(new Option('--dry-run', 'check everything, but import nothing').conflicts('createStore'))
    .option('--skip-invalid', 'leave out invalid lines, and write them to standard output')
    .option('--new-ids', 'assign new ids, and ignore those of the pets')
    .option(...CREATE_STORE)
    .option(...JSON_RESULT)
    .action((from, flags) => importPets(from, flags, options));
}

async function importPets(from: string, flags: Flags, options: CommandOptions): Promise<void> {
  const { console } = options;
  const { dryRun, skipInvalid, json } = flags;
  // A dry run does not accept --create-store.
  const createStore = dryRun ? undefined : (flags.createStore ?? false);
  const [{ place, notice, count, skipped }, elapsed] = await withProgress(
    options,
    'nothing was imported',
    async (progress) => {
      const source = await openSource(from, options);
      const work = (store: AnimalStore) => importLines(store, source, flags, progress, options);
      const imported = await withStore(options, 'import', work, createStore).finally(source.close);
      return { ...source, ...imported };
    },
  );
  const pets = counted(count, 'pet');
  const lost = skipped > 0 ? `, skipped ${counted(skipped, 'line')}` : '';
  const counts = dryRun ? { dryRun, imported: 0, importable: count } : { imported: count };
  const result = {
    done: (dryRun ? `dry run: ${pets} can be imported` : `imported ${pets}`) + place,
    details: ` in ${duration(elapsed)}${lost}`,
    members: { ...counts, skipped, milliseconds: Math.round(elapsed) },
  };
  // Then standard output has the refused lines.
  if (skipInvalid) console.err(resultText(result, json));
  else await printResult(console, result, json);
  if (!dryRun) console.err(notice);
}

async function openSource(from: string, options: CommandOptions): Promise<Source> {
  const { console, databaseUrl, signal } = options;
  const source = await options.openSource(from, databaseUrl);
  if (source !== undefined) {
    const { store, place } = source;
    const lines = linesOfPets(store.exportPets({}, { signal }));
    return { lines, place: ` from ${place}`, notice: PETS_ALONE, close: () => store.close() };
  }
  const { stream, name, share } = await openInput(from, console.stdin, signal);
  const lines = readLines(chunksOf(stream, name));
  return { lines, place: '', notice: '', share, close: () => stream.destroy() };
}

/** Imports the pets of lines, and writes the lines that are refused, in their order, to standard output. */
async function importLines(
  store: AnimalStore,
  { lines: batches, share }: Source,
  { dryRun, skipInvalid, newIds }: Flags,
  progress: Progress,
  { console, signal }: CommandOptions,
): Promise<{ readonly count: number; readonly skipped: number }> {
  let count = 0;
  let skipped = 0;
  let isRead = false;
  let refused: Line[] = [];
  const writeRefused = async (): Promise<void> => {
    const [first] = refused.sort((one, other) => one.number - other.number);
    if (first === undefined) return;
    if (!skipInvalid) {
      const advice = '--skip-invalid leaves out invalid lines';
      throw new CommandError(`line ${first.number}: ${first.fault} (${advice})`);
    }
    const lines = refused.filter(({ fault }) => fault !== '');
    console.err(lines.map(({ number, fault = '' }) => `line ${number}: ${visible(fault)}\n`).join(''));
    await console.outData(Buffer.concat(refused.map(({ bytes }) => Buffer.from(bytes))));
    skipped += lines.length;
    refused = [];
  };
  const pets = async function* () {
    for await (const lines of batches) {
      const batch: PetOfLine[] = [];
      for (const line of lines) {
        try {
          const pet = petOf(line, newIds);
          if (pet !== undefined) batch.push(pet);
        } catch (error) {
          refused.push({ ...line, fault: (error as Error).message });
        }
      }
      count += batch.length;
      // Before the next batch is requested, the application refuses the invalid pets of this one.
      yield batch;
      await writeRefused();
      progress.show('Reading', count, share?.());
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
      onProgress: (stored) => progress.show('Storing', stored, stored / count),
      signal,
    });
    return { count: imported, skipped };
  } catch (error) {
    throw withOutcome(error as Error, isRead);
  }
}

/** Returns `undefined` for a blank line. The application checks later whether the pet is valid. */
function petOf(line: Line, newIds = false): PetOfLine | undefined {
  if (line.fault !== undefined) throw new Error(line.fault);
  if (line.text.trim() === '') return undefined;
  const { id, ...members } = parsePetMembers(line.text);
  return { ...members, id: newIds ? undefined : id, line };
}

/** When an error occurs while the pets are stored, its message says what is known. */
function withOutcome(error: Error, isRead: boolean): Error {
  // The use case refuses an import that has a callback for invalid pets only because of the ids.
  const isRefused = asAnimalStoreError(error)?.code === 'invalid_request';
  if (isRead && !isRefused) return error;
  return new CommandError(
    `${error.message}${isRefused ? ' (--new-ids assigns new ids)' : ''}; nothing was imported`,
  );
}
