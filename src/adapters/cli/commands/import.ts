import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { CREATE_STORE, JSON_RESULT } from '../arguments.ts';
import { printResult, resultText } from '../console.ts';
import { CommandError } from '../errors.ts';
import { refuseStoreFile } from '../files.ts';
import { counted, duration } from '../format.ts';
import { importLines } from '../import-lines.ts';
import { chunksOf, linesOfPets, openInput } from '../input.ts';
import { type Line, readLines } from '../lines.ts';
import { type CommandOptions, PAGE_BY_PAGE } from '../options.ts';
import { Progress } from '../progress.ts';
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
  readonly from: string;
  /** What a user should know after the import. */
  readonly notice: string;
  readonly share?: (() => number | undefined) | undefined;
  close(): unknown;
}

const PETS_ALONE = 'Only pets were copied, without API keys and without the records of idempotency keys.\n';
const WAITING =
  'Waiting for pets on standard input, one in JSON per line. Ctrl-D ends the input, Ctrl-C the import.\n';

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

async function importPets(file: string, flags: Flags, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  const { dryRun, skipInvalid, json } = flags;
  const { lines, from, notice, share, close } = await openSource(file, options);
  const progress = new Progress(console);
  const work = (store: AnimalStore) =>
    importLines(store, lines, { ...flags, share, progress, console, signal });
  // A dry run does not accept --create-store.
  const createStore = dryRun ? undefined : (flags.createStore ?? false);
  const { count, skipped } = await withStore(options, 'import', work, createStore)
    .catch((error: Error) => {
      throw signal.aborted ? new CommandError('interrupted; nothing was imported') : error;
    })
    .finally(() => progress.end())
    .finally(close);
  const pets = counted(count, 'pet');
  const lost = skipped > 0 ? `, skipped ${counted(skipped, 'line')}` : '';
  const counts = dryRun ? { dryRun, imported: 0, importable: count } : { imported: count };
  const result = {
    done: dryRun ? `dry run: ${pets} can be imported${from}` : `imported ${pets}${from}`,
    details: ` in ${duration(progress.elapsed)}${lost}`,
    members: { ...counts, skipped, milliseconds: Math.round(progress.elapsed) },
  };
  // Then standard output has the refused lines.
  if (skipInvalid) console.err(resultText(result, json));
  else await printResult(console, result, json);
  if (!dryRun) console.err(notice);
}

async function openSource(from: string, options: CommandOptions): Promise<Source> {
  const { console, databaseUrl, signal, storeFiles } = options;
  const source = await options.openSource(from, databaseUrl);
  if (source !== undefined) {
    const { store, place, isServer } = source;
    const lines = linesOfPets(store.exportPets({}, { signal }));
    const notice = isServer ? PETS_ALONE + PAGE_BY_PAGE : PETS_ALONE;
    return { lines, from: ` from ${place}`, notice, close: () => store.close() };
  }
  const files = await storeFiles(databaseUrl);
  const { stream, name, descriptor, share } = await openInput(from, console.stdin, signal);
  if (descriptor !== undefined) refuseStoreFile(descriptor, name, files);
  if (from === '-' && console.stdin.isTTY) console.err(WAITING);
  const lines = readLines(chunksOf(stream, name));
  return { lines, from: '', notice: '', share, close: () => stream.destroy() };
}
