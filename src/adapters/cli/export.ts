import type { Writable } from 'node:stream';
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
  let count = 0;
  try {
    for await (const pets of storage.transfer.exportPets(query)) {
      signal.throwIfAborted();
      await write(console.stdout, pets.map((pet) => `${petJson(pet)}\n`).join(''), signal);
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

/** Resolves when the text is handed over: whoever reads slowly is waited for. */
function write(stream: Writable, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stream.write(text, (error) => {
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}
