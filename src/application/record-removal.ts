import type { ReportFailure } from './observers.ts';
import { nextTurn } from './pause.ts';
import type { IdempotencyRecords } from './ports/idempotent-creates.ts';

/** In milliseconds. */
const INTERVAL = 60_000;

/** The maximum number of records that one transaction removes. It is small, because other writes wait for the transaction. */
const REMOVAL_STEP = 500;

/** Once a minute, removes ended idempotency records in small transactions. Returns a function that stops the removals. */
export function startRecordRemoval(
  records: Pick<IdempotencyRecords, 'removeRecords'>,
  report: ReportFailure,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    timer = setTimeout(removeAll, INTERVAL);
    // The timer must not keep the process alive. In a browser, a timer is a number and has no `unref`.
    if (typeof timer === 'object') timer.unref();
  };
  const removeAll = async (): Promise<void> => {
    try {
      while (timer !== undefined && (await records.removeRecords(REMOVAL_STEP)) === REMOVAL_STEP)
        await nextTurn();
    } catch (error) {
      if (timer !== undefined) report('the removal of ended idempotency records', error);
    }
    if (timer !== undefined) schedule();
  };
  schedule();
  return () => {
    clearTimeout(timer);
    timer = undefined;
  };
}
