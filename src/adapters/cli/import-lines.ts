/** Imports the pets of lines, and writes the lines that are refused, in their order, to standard output. */

import type { AnimalStore } from '../../application/animal-store.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { ImportedPet } from '../../domain/pet.ts';
import { parsePetMembers } from '../../domain/pet-json.ts';
import { visible } from '../../domain/visible.ts';
import type { Console } from './console.ts';
import { CommandError } from './errors.ts';
import type { Line } from './lines.ts';
import type { Progress } from './progress.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly skipInvalid?: boolean;
  readonly newIds?: boolean;
  /** Returns the fraction that was read, if it is known. */
  readonly share?: (() => number | undefined) | undefined;
  readonly progress: Progress;
  readonly console: Console;
  readonly signal: AbortSignal;
}

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

/** Resolves with the numbers of stored pets and of refused lines. */
export async function importLines(
  store: AnimalStore,
  batches: AsyncIterable<readonly Line[]>,
  { dryRun = false, skipInvalid, newIds, share, progress, console, signal }: Options,
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
      progress.show({ title: 'Reading', count, share: share?.() });
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
      onProgress: (stored) => progress.show({ title: 'Storing', count: stored, share: stored / count }),
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
