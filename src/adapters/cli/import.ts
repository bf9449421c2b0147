import type { PetTransfer } from '../../application/ports.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { CommandError, UsageError } from './errors.ts';
import { isSameFile, pathToWrite } from './files.ts';
import { chunksOf, type Input, openInput } from './input.ts';
import { readLines } from './lines.ts';
import type { CliOptions } from './options.ts';
import { PetLines } from './pet-lines.ts';
import { counted, duration, Progress, rate } from './progress.ts';
import { RefusedLines } from './refused-lines.ts';
import { printResult } from './result.ts';
import { refuseStoreFile } from './store-files.ts';
import { visible } from './visible.ts';

export interface ImportFlags {
  readonly skipInvalid?: boolean;
  /** Where the refused lines go. */
  readonly refused?: string;
  readonly newIds?: boolean;
  readonly json?: boolean;
}

const NOTHING = 'nothing was imported';

/** Adds the animals of a file of NDJSON, or of standard input for `-`: all of them, or none when anything fails. */
export async function importPets(
  file: string,
  flags: ImportFlags,
  databaseUrl: string | undefined,
  options: CliOptions,
): Promise<void> {
  const { console, signal } = options;
  if (!flags.skipInvalid && flags.refused !== undefined) {
    throw new UsageError('--refused goes with --skip-invalid');
  }
  const storeFiles = await options.storeFiles(databaseUrl);
  const input = await untilSignal(openInput(file, console, signal), signal);
  try {
    if (input.descriptor !== undefined) refuseStoreFile(input.descriptor, input.name, storeFiles);
    const refused = flags.skipInvalid ? refusedLinesOf(file, flags.refused, input, storeFiles) : undefined;
    const storage = await options.openStorage(databaseUrl, { mustExist: false });
    try {
      const progress = new Progress(console, 'animals');
      const lines = petLines(flags.newIds ?? false, refused);
      const count = await transfer(storage.transfer, input, lines, refused, progress, options);
      await report(count, progress.elapsed, refused, flags, options);
    } finally {
      await storage.close();
    }
  } finally {
    input.stream.destroy();
  }
}

/** Everything that can fail. When it does, both the store and the file of refused lines are as they were. */
async function transfer(
  transfer: PetTransfer,
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  progress: Progress,
  { console, signal }: CliOptions,
): Promise<number> {
  const tellWhatIsLeft = (error: Error): void =>
    console.err(`${visible(`a file beside ${refused?.file} could not be removed: ${error.message}`)}\n`);
  try {
    const importing = transfer.importPets(petsOf(input, lines, refused, progress), {
      onTaken: (pet) => lines.refuse(pet),
      onStored: (count) => progress.show({ title: 'Storing', count, share: count / lines.count }),
      signal,
    });
    const count = await untilSignal(importing, signal);
    await refused?.keep().catch(tellWhatIsLeft);
    return count;
  } catch (error) {
    await refused?.takeBack().catch(tellWhatIsLeft);
    if (asAnimalStoreError(error)?.code !== 'invalid_request') throw error;
    const hint = lines.haveIds ? ' (--new-ids gives new ones)' : '';
    throw new CommandError(`${(error as Error).message}${hint}, ${NOTHING}`);
  } finally {
    progress.end();
  }
}

async function untilSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted, ${NOTHING}`) : error;
  }
}

/**
 * The animals of the input, batch by batch. The refused lines are in their file before the last batch is over, so that
 * nothing is stored when that fails.
 */
async function* petsOf(
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  progress: Progress,
): AsyncGenerator<readonly (NewPet | Pet)[]> {
  let bytes = 0;
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(input)) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  for await (const pets of lines.read(readLines(chunks()))) {
    yield pets;
    await refused?.flush();
    const share = input.size === undefined ? undefined : bytes / input.size;
    progress.show({ title: 'Reading', count: lines.count, share });
  }
  await refused?.place();
}

/** Refuses a file that the import would harm, before anything is written. */
function refusedLinesOf(
  file: string,
  refused: string | undefined,
  input: Input,
  storeFiles: readonly string[],
): RefusedLines {
  const name = refused ?? `${file === '-' ? 'import' : file}.refused.ndjson`;
  const option = '--refused';
  refuseStoreFile(name, `${option}: ${name}`, storeFiles);
  const path = pathToWrite(name, option);
  if (input.descriptor !== undefined && isSameFile(path, input.descriptor)) {
    throw new UsageError(`${option}: ${name} is the input itself`);
  }
  return new RefusedLines(name, path);
}

function petLines(newIds: boolean, refused: RefusedLines | undefined): PetLines {
  return new PetLines({
    newIds,
    onRefused(line, reason) {
      if (refused === undefined) throw new CommandError(`line ${line.number}: ${reason}, ${NOTHING}`);
      refused.add(line, reason);
    },
  });
}

async function report(
  count: number,
  elapsed: number,
  refused: RefusedLines | undefined,
  { json }: ImportFlags,
  { console }: CliOptions,
): Promise<void> {
  const skipped = refused?.count ?? 0;
  const refusedFile = skipped > 0 ? refused?.file : undefined;
  const done = `imported ${counted(count, 'animal')}`;
  const text = json
    ? JSON.stringify({ imported: count, skipped, refusedFile, milliseconds: Math.round(elapsed) })
    : `I${done.slice(1)} in ${duration(elapsed)} (${rate(count, elapsed)}).`;
  await printResult(console, `${text}\n`, done);
  if (refusedFile === undefined || json) return;
  console.err(`Left out ${counted(skipped, 'line')}, see ${visible(refusedFile)}\n`);
}
