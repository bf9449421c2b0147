/** Formats tables as Markdown, so that they can be pasted into a document. */

import { type Row, ratioTo } from './rounds.ts';
import { WORK_TITLES } from './works.ts';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/**
 * Returns a table with one row per work and case. `against` maps the label of a case to the title of a column that
 * shows the ratio to that case.
 */
export function rowsTable(
  rows: readonly Row[],
  caseTitle: string,
  against: Readonly<Record<string, string>>,
  titleOf: (label: string) => string = (label) => label,
): string {
  const times = ['p50', 'p90', 'p99', 'longest'] as const;
  const units = times.map((time) => `${time} ms`);
  const head = ['work', caseTitle, 'requests/s', ...Object.values(against), 'server us', ...units];
  const body = rows.map((row) => [
    WORK_TITLES[row.work],
    titleOf(row.label),
    whole(row.perSecond) + (row.generatorIsLimit ? ' *' : ''),
    ...Object.keys(against).map((label) => ratio(ratioTo(label, row, rows))),
    microseconds(row),
    ...times.map((time) => milliseconds(row[time])),
  ]);
  const note = '\n\n* the load generator used its whole core, so the server may be faster';
  return table(head, body) + (rows.some((row) => row.generatorIsLimit) ? note : '');
}

/** Returns the processor time of the server per request. */
function microseconds({ serverShare, perSecond }: Row): string {
  return serverShare === undefined ? '' : ((serverShare * 1e6) / perSecond).toFixed(1);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function milliseconds(value: number): string {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : whole(value);
}

function ratio(value: number | undefined): string {
  return value === undefined ? '' : value < 10 ? value.toFixed(2) : value.toFixed(1);
}
