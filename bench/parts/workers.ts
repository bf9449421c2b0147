/** Measures animal-store with several threads. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { type Case, measureInTurn, type Row, ratioTo } from '../rounds.ts';
import { OURS } from '../servers.ts';
import { milliseconds, table, whole } from '../table.ts';
import { WORK_TITLES } from '../works.ts';

export function measureWorkers(options: Options): Promise<Row[]> {
  const { pets } = options;
  const source = filledFile(pets);
  const cases = options.workers.map((workers): Case => {
    return { label: `threads: ${workers}`, session: { name: OURS, source, pets, workers } };
  });
  return measureInTurn(cases, options);
}

export function workersTable(rows: readonly Row[]): string {
  return table(
    'work|animal-store|requests/s|of one|p50 ms|p99 ms|us of processor time'.split('|'),
    rows.map((row) => [
      WORK_TITLES[row.work],
      row.label,
      whole(row.perSecond),
      ratioTo(row.label.replace(/\d+$/, '1'), row, rows)?.toFixed(2) ?? '',
      milliseconds(row.p50),
      milliseconds(row.p99),
      row.serverShare === undefined ? '' : ((1e6 * row.serverShare) / row.perSecond).toFixed(1),
    ]),
  );
}
