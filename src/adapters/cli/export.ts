import { petJson } from '../../domain/json.ts';
import { isPetStatus, PET_STATUSES, type PetStatus } from '../../domain/pet.ts';
import { CommandError, isBrokenPipe, UsageError } from './errors.ts';
import type { CliOptions } from './options.ts';
import { counted, duration, Progress, rate } from './progress.ts';

/** Writes each pet as a line of NDJSON to standard output. All pets are read from one snapshot of the store. */
export async function exportPets(
  status: string | undefined,
  databaseUrl: string | undefined,
  { console, signal, openStore }: CliOptions,
): Promise<void> {
  const query = { status: statusOf(status) };
  const store = await openStore(databaseUrl, { mustExist: true });
  const progress = new Progress(console, 'pets');
  const isTerminal = console.outScreen.columns !== undefined;
  const write = isTerminal ? console.out : console.outRaw;
  let count = 0;
  try {
    for await (const pets of store.exportPets(query)) {
      signal.throwIfAborted();
      await unlessAborted(write(pets.map((pet) => `${petJson(pet)}\n`).join('')), signal);
      count += pets.length;
      if (!isTerminal) progress.show({ title: 'Exporting', count });
    }
  } catch (error) {
    if (isBrokenPipe(error)) return;
    throw signal.aborted ? new CommandError('interrupted, the export is not complete') : error;
  } finally {
    progress.end();
    await store.close();
  }
  const { elapsed } = progress;
  console.err(`Exported ${counted(count, 'pet')} in ${duration(elapsed)} (${rate(count, elapsed)}).\n`);
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
