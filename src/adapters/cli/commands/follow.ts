import { once } from 'node:events';
import { parseInt64 } from '../../../domain/int64.ts';
import type { PetStatus } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { isBrokenPipe, UsageError } from '../errors.ts';
import type { CommandOptions } from '../options.ts';
import { withStore } from './store.ts';

export interface FollowFlags {
  readonly status?: PetStatus;
  readonly after?: string;
}

/** Writes each pet as a line of NDJSON as soon as it is visible, until the command is interrupted. */
export async function followPets(
  { status, after: given }: FollowFlags,
  options: CommandOptions,
): Promise<void> {
  const { console, signal } = options;
  const after = given === undefined ? undefined : parseInt64(given);
  if (given !== undefined && after === undefined) {
    throw new UsageError(`--after: expected the id of a pet, such as 7, got '${given}'`);
  }
  const write = console.outScreen.columns === undefined ? console.outRaw : console.out;
  // A reader that has stopped reading must not delay the exit.
  const aborted = once(signal, 'abort');
  await withStore(options, 'export', async (store) => {
    try {
      for await (const pet of store.followPets({ status, after, signal })) {
        await Promise.race([aborted, write(`${petJson(pet)}\n`)]);
      }
    } catch (error) {
      if (!signal.aborted && !isBrokenPipe(error)) throw error;
    }
  });
}
