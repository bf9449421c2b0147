import type { AnimalStore } from '../../application/animal-store.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { isPetStatus, PET_STATUSES, type PetStatus } from '../../domain/pet.ts';
import { petJson } from '../../domain/pet-json.ts';
import { CommandError, isBrokenPipe, UsageError } from './errors.ts';
import { type ExportTarget, outputFile, standardOutput } from './export-target.ts';
import { writeCompressed } from './gzip.ts';
import type { CliOptions } from './options.ts';
import { counted, durationAndRate, Progress } from './progress.ts';
import { visible } from './visible.ts';

export interface ExportFlags {
  readonly status?: string;
  /** The path of the file to write. Without it, the export is written to standard output. */
  readonly output?: string;
  readonly force?: boolean;
  readonly gzip?: boolean;
}

/** Writes each pet as a line of NDJSON. All pets are read from one snapshot of the store. */
export async function exportPets(
  flags: ExportFlags,
  databaseUrl: string | undefined,
  { console, signal, openStore, storeFiles }: CliOptions,
): Promise<void> {
  const { output, force = false } = flags;
  const query = { status: statusOf(flags.status) };
  if (force && output === undefined) throw new UsageError('--force requires --output');
  const target =
    output === undefined ? standardOutput(console) : outputFile(output, force, await storeFiles(databaseUrl));
  const isCompressed = flags.gzip ?? output?.endsWith('.gz') ?? false;
  if (isCompressed && target.isTerminal) {
    throw new UsageError(
      '--gzip: expected --output FILE or a redirection, because standard output is a terminal',
    );
  }
  const store = await openStore(databaseUrl, { mustExist: true });
  const progress = new Progress(console, 'pets');
  const onCount = (count: number): void => {
    if (!target.isTerminal) progress.show({ title: 'Exporting', count });
  };
  let count = 0;
  try {
    count = await writeAll(store, query, target, isCompressed, signal, onCount);
    await target.complete();
  } catch (error) {
    await target.abandon();
    if (isBrokenPipe(error)) return;
    const rest = output === undefined ? 'the export is not complete' : 'nothing was exported';
    throw signal.aborted ? new CommandError(`interrupted; ${rest}`) : error;
  } finally {
    progress.end();
    await store.close();
  }
  const { elapsed } = progress;
  const place = output === undefined ? '' : ` to ${visible(output)}`;
  console.err(`Exported ${counted(count, 'pet')}${place} in ${durationAndRate(count, elapsed)}.\n`);
}

/** Writes the pets to a target, and resolves with their number. */
async function writeAll(
  store: AnimalStore,
  query: Pick<PetQuery, 'status'>,
  target: ExportTarget,
  isCompressed: boolean,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<number> {
  let count = 0;
  const texts = async function* (): AsyncGenerator<string> {
    for await (const pets of store.exportPets(query)) {
      signal.throwIfAborted();
      yield pets.map((pet) => `${petJson(pet)}\n`).join('');
      count += pets.length;
      onCount(count);
    }
  };
  const write = (chunk: string | Buffer): Promise<void> => unlessAborted(target.write(chunk), signal);
  if (isCompressed) await writeCompressed(texts(), write);
  else for await (const text of texts()) await write(text);
  return count;
}

function statusOf(text: string | undefined): PetStatus | undefined {
  if (text === undefined || isPetStatus(text)) return text;
  throw new UsageError(`--status: expected one of ${PET_STATUSES.join(', ')}, got '${text}'`);
}

/** Waits for a write, but rejects as soon as `signal` is aborted, because a slow reader must not delay the exit. */
function unlessAborted(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    writing.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
