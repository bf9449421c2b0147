import type { ReadStream } from 'node:tty';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { idProblems } from '../../../application/ids-left.ts';
import { asAnimalStoreError } from '../../../domain/errors.ts';
import { toInt64 } from '../../../domain/int64.ts';
import type { ImportedPet } from '../../../domain/pet.ts';
import { parsePetMembers } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { CommandError, FileError, UsageError } from '../errors.ts';
import { chunksOf, type Input, openInput } from '../files/input.ts';
import { type Line, readLines } from '../files/lines.ts';
import { OutputFile } from '../files/output-file.ts';
import { isSameFile, refuseStoreFile } from '../files/paths.ts';
import type { CommandOptions, JsonFlag } from '../options.ts';
import { type Console, printResult } from '../output/console.ts';
import { counted, durationAndRate } from '../output/format.ts';
import { Progress } from '../output/progress.ts';
import { withStore } from './store.ts';

interface ImportFlags extends JsonFlag {
  readonly skipInvalid?: boolean;
  readonly refused?: string;
  readonly force?: boolean;
  readonly newIds?: boolean;
  readonly createStore?: boolean;
  readonly dryRun?: boolean;
}

const NOTHING = 'nothing was imported';

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

/** Imports the pets of an NDJSON file, or of standard input if `file` is `-`: all of them, or none after an error. */
export async function importPets(file: string, flags: ImportFlags, options: CommandOptions): Promise<void> {
  if (!flags.skipInvalid && flags.refused !== undefined) {
    throw new UsageError('--refused requires --skip-invalid');
  }
  if (flags.force && flags.refused === undefined) throw new UsageError('--force requires --refused');
  const imported = await importFile(file, flags, options).catch((error: unknown) => {
    throw options.signal.aborted ? new CommandError(`interrupted; ${NOTHING}`) : error;
  });
  await report(imported, flags, options.console);
}

async function importFile(file: string, flags: ImportFlags, options: CommandOptions) {
  const { console, databaseUrl, signal } = options;
  const storeFiles = await options.storeFiles(databaseUrl);
  const input = await openInput(file, console.stdin, signal);
  try {
    if (input.descriptor !== undefined) refuseStoreFile(input.descriptor, input.name, storeFiles);
    if (file === '-' && (console.stdin as Partial<ReadStream>).isTTY)
      console.err(
        'Waiting for pets on standard input, one in JSON per line. Ctrl-D ends the input, Ctrl-C the import.\n',
      );
    const refused = flags.skipInvalid ? refusedFileOf(file, flags, input, storeFiles) : undefined;
    const work = (store: AnimalStore) => importLines(store, input, refused, flags, options);
    // A dry run does not accept --create-store.
    const createStore = flags.dryRun ? undefined : (flags.createStore ?? false);
    return await withStore(options, 'import', work, createStore);
  } finally {
    input.stream.destroy();
  }
}

function refusedFileOf(
  file: string,
  { refused, force = false }: ImportFlags,
  input: Input,
  storeFiles: readonly string[],
): OutputFile {
  const name = refused ?? `${file === '-' ? 'import' : file}.refused.ndjson`;
  const option = '--refused';
  const lines = new OutputFile(name, option, storeFiles);
  if (input.descriptor !== undefined && isSameFile(lines.path, input.descriptor)) {
    throw new FileError(`${option}: ${name} is the input file`);
  }
  if (!force) {
    lines.refuseExisting(
      refused === undefined ? `select another file with ${option}` : '--force replaces it',
    );
  }
  return lines;
}

/** Writes the refused lines to a file, which is durable before the pets are stored. The caller must place this file. */
async function importLines(
  store: AnimalStore,
  input: Input,
  refused: OutputFile | undefined,
  { newIds = false, dryRun }: ImportFlags,
  { console, signal }: CommandOptions,
) {
  const progress = new Progress(console);
  let count = 0;
  let skipped = 0;
  let refusals: Line[] = [];
  let lastId = 0n;
  const batches = async function* () {
    for await (const lines of readLines(chunksOf(input))) {
      const pets: PetOfLine[] = [];
      for (const line of lines) {
        try {
          const pet = petOfLine(line, newIds);
          if (pet === undefined) continue;
          pets.push(pet);
          const id = toInt64(pet.id) ?? 0n;
          if (id > lastId) lastId = id;
        } catch (error) {
          refusals.push({ ...line, fault: (error as Error).message });
        }
      }
      count += pets.length;
      // Before the next batch is requested, the application refuses the invalid pets of this one.
      yield pets;
      if (refusals.length > 0) await writeRefusals(refusals, refused);
      skipped += refusals.length;
      refusals = [];
      progress.show({ title: 'Reading', count, share: input.share() });
    }
    if (skipped > 0) await refused?.complete();
  };
  try {
    const imported = await store.importPets(batches(), {
      dryRun,
      onRefused(pet, fault) {
        count -= 1;
        refusals.push({ ...(pet as PetOfLine).line, fault });
      },
      onProgress: (stored) => progress.show({ title: 'Storing', count: stored, share: stored / count }),
      signal,
    });
    return {
      count: imported,
      skipped,
      elapsed: progress.elapsed,
      problems: idProblems(lastId),
      refused: skipped > 0 ? refused : undefined,
    };
  } catch (error) {
    await refused?.discard();
    throw withOutcome(error);
  } finally {
    progress.end();
  }
}

/** Returns `undefined` for a blank line. The application checks later whether the pet is valid. */
function petOfLine(line: Line, newIds: boolean): PetOfLine | undefined {
  if (line.fault !== undefined) throw new Error(line.fault);
  if (line.text.trim() === '') return undefined;
  const { id, ...members } = parsePetMembers(line.text);
  return { ...members, id: newIds ? undefined : id, line };
}

async function writeRefusals(refusals: Line[], file: OutputFile | undefined): Promise<void> {
  refusals.sort((one, other) => one.number - other.number);
  if (file === undefined) {
    const [first] = refusals;
    throw new CommandError(
      `line ${first?.number}: ${first?.fault} (--skip-invalid leaves out invalid lines)`,
    );
  }
  const lines = refusals.map(({ number, text, fault }) =>
    visible(JSON.stringify({ line: number, reason: fault, text })),
  );
  await file.write(`${lines.join('\n')}\n`);
}

/** The use case refuses an import that has a callback for invalid pets only because of the ids. */
function withOutcome(error: unknown): unknown {
  if (error instanceof CommandError) return new CommandError(`${error.message}; ${NOTHING}`);
  const refusal = asAnimalStoreError(error);
  if (refusal?.code !== 'invalid_request') return error;
  return new CommandError(`${refusal.message} (--new-ids assigns new ids); ${NOTHING}`);
}

async function report(
  { count, skipped, elapsed, refused, problems }: Awaited<ReturnType<typeof importLines>>,
  { dryRun = false, json }: ImportFlags,
  console: Console,
): Promise<void> {
  const pets = counted(count, 'pet');
  const done = dryRun ? `dry run: ${pets} can be imported` : `imported ${pets}`;
  await refused?.place().catch((error: Error) => {
    throw new CommandError(`${done}, but ${error.message}; the skipped lines are in ${refused.partial}`);
  });
  const details = ` in ${durationAndRate(count, elapsed)}`;
  const counts = dryRun ? { dryRun, imported: 0, importable: count } : { imported: count };
  const members = { ...counts, skipped, refusedFile: refused?.name, milliseconds: Math.round(elapsed) };
  await printResult(console, { done, details, members }, json);
  for (const { severity, message } of problems) console.err(`${severity}: ${message}\n`);
  if (refused !== undefined && !json) {
    console.err(`Skipped ${counted(skipped, 'line')}, see ${visible(refused.name)}\n`);
  }
}
