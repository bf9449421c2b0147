import { petJson } from '../../domain/json.ts';
import { isPetStatus, PET_STATUSES, type PetStatus } from '../../domain/pet.ts';
import { CommandError, isBrokenPipe, UsageError } from './errors.ts';
import type { CliOptions } from './options.ts';
import { counted, duration, Progress, rate } from './progress.ts';

/** Writes every animal as a line of NDJSON to standard output, all as they were at one moment. */
export async function exportPets(
  status: string | undefined,
  databaseUrl: string | undefined,
  { console, signal, openStorage }: CliOptions,
): Promise<void> {
  const query = { status: statusOf(status) };
  const storage = await openStorage(databaseUrl, { mustExist: true });
  const progress = new Progress(console, 'animals');
  const isSeen = console.outScreen.columns !== undefined;
  const write = isSeen ? console.out : console.outRaw;
  let count = 0;
  try {
    for await (const pets of storage.transfer.exportPets(query)) {
      signal.throwIfAborted();
      await unlessAborted(write(pets.map((pet) => `${petJson(pet)}\n`).join('')), signal);
      count += pets.length;
      if (!isSeen) progress.show({ title: 'Exporting', count });
    }
  } catch (error) {
    if (isBrokenPipe(error)) return;
    throw signal.aborted ? new CommandError('interrupted, the export is not complete') : error;
  } finally {
    progress.end();
    await storage.close();
  }
  const { elapsed } = progress;
  console.err(`Exported ${counted(count, 'animal')} in ${duration(elapsed)} (${rate(count, elapsed)}).\n`);
}

function statusOf(text: string | undefined): PetStatus | undefined {
  if (text === undefined || isPetStatus(text)) return text;
  throw new UsageError(`--status: '${text}' is given, one of ${PET_STATUSES.join(', ')} is allowed`);
}

/** Whoever reads slowly is waited for, but not beyond the signal. */
function unlessAborted(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    writing.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
