import type { AnimalStore } from '../../application/animal-store.ts';
import type { ImportedPet } from '../../application/import-pets.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import { CommandError, FileError, UsageError } from './errors.ts';
import { isSameFile, pathToWrite } from './files.ts';
import { chunksOf, type Input, openInput } from './input.ts';
import { readLines } from './lines.ts';
import { openOrCreateStore } from './open-store.ts';
import type { CliOptions } from './options.ts';
import { PetLines } from './pet-lines.ts';
import { counted, durationAndRate, Progress } from './progress.ts';
import { RefusedLines } from './refused-lines.ts';
import { printResult } from './result.ts';
import { refuseStoreFile } from './store-files.ts';
import { visible } from './visible.ts';

export interface ImportFlags {
  readonly skipInvalid?: boolean;
  /** The path of the file to which refused lines are written. */
  readonly refused?: string;
  /** Whether an existing file of `refused` is replaced. */
  readonly force?: boolean;
  readonly newIds?: boolean;
  /** Whether a store that does not exist is created. */
  readonly createStore?: boolean;
  /** Whether the pets are checked, but not imported. */
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const NOTHING = 'nothing was imported';
const SKIPPING = '--skip-invalid leaves out invalid lines';

/**
 * Imports the pets of an NDJSON file, or of standard input if `file` is `-`. If an error occurs, no pet is imported. A
 * dry run does the same, but stores no pet and creates no store.
 */
export async function importPets(
  file: string,
  flags: ImportFlags,
  databaseUrl: string | undefined,
  options: CliOptions,
): Promise<void> {
  const { console, signal } = options;
  if (!flags.skipInvalid && flags.refused !== undefined) {
    throw new UsageError('--refused requires --skip-invalid');
  }
  if (flags.dryRun && flags.createStore) {
    throw new UsageError('--dry-run changes nothing: expected no --create-store');
  }
  if (flags.force && flags.refused === undefined) throw new UsageError('--force requires --refused');
  const storeFiles = await options.storeFiles(databaseUrl);
  const input = await untilSignal(openInput(file, console, signal), signal);
  try {
    if (input.descriptor !== undefined) refuseStoreFile(input.descriptor, input.name, storeFiles);
    const refused = flags.skipInvalid ? refusedLinesOf(file, flags, input, storeFiles) : undefined;
    const store = flags.dryRun
      ? await options.openStore(databaseUrl, { mustExist: true })
      : await openOrCreateStore(options, databaseUrl, flags.createStore ?? false);
    try {
      const progress = new Progress(console, 'pets');
      const lines = petLines(flags.newIds ?? false, refused);
      const count = await importLines(store, input, lines, refused, flags, progress, options);
      await report(count, progress.elapsed, refused, flags, options);
    } finally {
      await store.close();
    }
  } finally {
    input.stream.destroy();
  }
}

/**
 * Imports the pets of an input, and writes the refused lines to a file. If an error occurs, the store stays unchanged,
 * and a file that the refused lines replaced is restored.
 */
async function importLines(
  store: AnimalStore,
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  { dryRun }: ImportFlags,
  progress: Progress,
  { console, signal }: CliOptions,
): Promise<number> {
  const warnOfLeftover = (error: Error): void =>
    console.err(
      `${visible(`a temporary file beside ${refused?.file} could not be removed: ${error.message}`)}\n`,
    );
  try {
    const importing = store.importPets(petsOf(input, lines, refused, progress), {
      dryRun,
      onRefused: (pet, reason) => lines.refuse(pet, reason),
      onProgress: (count) => progress.show({ title: 'Storing', count, share: count / lines.count }),
      signal,
    });
    const count = await untilSignal(importing, signal);
    await refused?.keep().catch(warnOfLeftover);
    return count;
  } catch (error) {
    await refused?.takeBack().catch(warnOfLeftover);
    if (asAnimalStoreError(error)?.code !== 'invalid_request') throw error;
    const advice = lines.haveIds ? ' (--new-ids assigns new ids)' : '';
    throw new CommandError(`${(error as Error).message}${advice}; ${NOTHING}`);
  } finally {
    progress.end();
  }
}

async function untilSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted; ${NOTHING}`) : error;
  }
}

/**
 * Yields the pets of an input in batches. The file of refused lines is complete before the generator ends. If that file
 * cannot be written, the generator throws, so that nothing is imported.
 */
async function* petsOf(
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  progress: Progress,
): AsyncGenerator<readonly ImportedPet[]> {
  let bytes = 0;
  const chunks = chunksOf(input, (count) => {
    bytes += count;
  });
  for await (const pets of lines.read(readLines(chunks))) {
    yield pets;
    await refused?.flush();
    const share = input.size === undefined ? undefined : bytes / input.size;
    progress.show({ title: 'Reading', count: lines.count, share });
  }
  await refused?.place();
}

/**
 * Returns a writer for the file of refused lines. Throws, before anything is written, if that file belongs to the
 * store, is the input, is not a regular file, or exists and the flag `force` is not set.
 */
function refusedLinesOf(
  file: string,
  { refused, force = false }: ImportFlags,
  input: Input,
  storeFiles: readonly string[],
): RefusedLines {
  const name = refused ?? `${file === '-' ? 'import' : file}.refused.ndjson`;
  const option = '--refused';
  refuseStoreFile(name, `${option}: ${name}`, storeFiles);
  const path = pathToWrite(name, option);
  if (input.descriptor !== undefined && isSameFile(path, input.descriptor)) {
    throw new FileError(`${option}: ${name} is the input file`);
  }
  const lines = new RefusedLines(name, path);
  if (lines.replacesFile && !force) {
    const advice = refused === undefined ? 'select another file with --refused' : '--force replaces it';
    throw new FileError(`${name} exists already: ${advice}`);
  }
  return lines;
}

function petLines(newIds: boolean, refused: RefusedLines | undefined): PetLines {
  return new PetLines({
    newIds,
    onRefused(line, reason) {
      if (refused !== undefined) refused.add(line, reason);
      else throw new CommandError(`line ${line.number}: ${reason} (${SKIPPING}); ${NOTHING}`);
    },
  });
}

async function report(
  count: number,
  elapsed: number,
  refused: RefusedLines | undefined,
  { dryRun = false, json }: ImportFlags,
  { console }: CliOptions,
): Promise<void> {
  const skipped = refused?.count ?? 0;
  const refusedFile = skipped > 0 ? refused?.file : undefined;
  const done = dryRun
    ? `dry run: ${counted(count, 'pet')} can be imported`
    : `imported ${counted(count, 'pet')}`;
  const counts = dryRun ? { dryRun, imported: 0, importable: count } : { imported: count };
  const text = json
    ? JSON.stringify({ ...counts, skipped, refusedFile, milliseconds: Math.round(elapsed) })
    : `${done.charAt(0).toUpperCase()}${done.slice(1)} in ${durationAndRate(count, elapsed)}.`;
  await printResult(console, `${text}\n`, done);
  if (refusedFile === undefined || json) return;
  console.err(`Skipped ${counted(skipped, 'line')}, see ${visible(refusedFile)}\n`);
}
