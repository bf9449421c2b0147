import { AnimalStoreError } from '../domain/errors.ts';
import { pause } from './pause.ts';

const ATTEMPTS = 20;
/** The longest pause between two attempts, in milliseconds. Pauses are random, so that competing callers do not retry together. */
const LONGEST_PAUSE = 250;

/** Calls `attempt` until it does not resolve with `undefined`, which says that another writer was faster. */
export async function retryLostRace<T>(
  attempt: () => Promise<T | undefined>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  for (let lost = 0; lost < ATTEMPTS; lost += 1) {
    if (lost > 0) await pause(Math.random() * Math.min(LONGEST_PAUSE, 2 ** lost), signal);
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new AnimalStoreError(
    'overloaded',
    `other writers changed the pet ${ATTEMPTS} times in between: nothing was changed`,
  );
}
