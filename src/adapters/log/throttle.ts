const WINDOW = 1000;

/** The maximum number of kinds that are counted separately in one second. Further kinds are {@link OTHER_KINDS}. */
const KINDS_LIMIT = 50;

export const OTHER_KINDS = 'others';

/** The reports of the throttles that have counted events, with the timers of these reports. */
const pending = new Map<() => void, NodeJS.Timeout>();

/** Reports the events that were suppressed since the last reports. Must be called before the process exits. */
export function reportSuppressed(): void {
  for (const report of [...pending.keys()]) report();
}

/**
 * Returns a function that counts an event, and returns whether it may be logged: `limit` events of each kind per second
 * may. `onSuppressed` is called at the end of the second for each kind with suppressed events.
 */
export function throttle(
  limit: number,
  onSuppressed: (count: number, kind: string) => void,
): (kind: string) => boolean {
  const counts = new Map<string, number>();
  const report = (): void => {
    clearTimeout(pending.get(report));
    pending.delete(report);
    const reported = [...counts];
    counts.clear();
    for (const [kind, count] of reported) {
      if (count > limit) onSuppressed(count - limit, kind);
    }
  };
  return (kind) => {
    if (counts.size === 0) pending.set(report, setTimeout(report, WINDOW).unref());
    const counted = counts.has(kind) || counts.size < KINDS_LIMIT ? kind : OTHER_KINDS;
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    return count <= limit;
  };
}
