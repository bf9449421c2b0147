import type { CreatePetOnce } from './create-pet-once.ts';
import { nextTurn } from './next-turn.ts';

/** In milliseconds. */
const INTERVAL = 60_000;

/** Removes old records once a minute, in small transactions, and returns a function that stops the removals. */
export function startRecordRemoval(createPetOnce: Pick<CreatePetOnce, 'removeOldRecords'>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    timer = setTimeout(removeAll, INTERVAL);
    // The timer must not keep the process alive. In a browser, it is a number.
    if (typeof timer === 'object') timer.unref();
  };
  const removeAll = async (): Promise<void> => {
    try {
      while (timer !== undefined && (await createPetOnce.removeOldRecords())) await nextTurn();
    } catch {}
    if (timer !== undefined) schedule();
  };
  schedule();
  return () => {
    clearTimeout(timer);
    timer = undefined;
  };
}
