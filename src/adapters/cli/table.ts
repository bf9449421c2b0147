/** Tables for people, without borders. */

import Table from 'cli-table3';
import { visible } from '../../domain/visible.ts';

/** The index of the column of names, which a narrow screen truncates. */
const NAMES = 1;
const NAMES_MIN_WIDTH = 8;

const CORNERS = ['top-mid', 'top-left', 'top-right', 'bottom-mid', 'bottom-left', 'bottom-right'] as const;
const LINES = ['top', 'bottom', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'] as const;
const NO_BORDERS = Object.fromEntries([...CORNERS, ...LINES].map((name) => [name, '']));
const STYLE = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };

/**
 * Aligns the columns, and escapes the cells.
 *
 * @param columns the width of the screen, or `undefined` if there is none
 */
export function table(
  rows: readonly (readonly string[])[],
  columns: number = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map((row) => row.map(visible));
  const excess = tableOf(cells).width - columns;
  const names = tableOf(cells.map((row) => [row[NAMES] ?? ''])).width;
  const text = tableOf(cells, excess > 0 ? Math.max(names - excess, NAMES_MIN_WIDTH) : null).toString();
  return text.replace(/ *$/gm, '').concat('\n');
}

function tableOf(rows: string[][], nameWidth: number | null = null) {
  const made = new Table({
    chars: { ...NO_BORDERS, middle: '  ' },
    style: STYLE,
    colWidths: [null, nameWidth],
  });
  made.push(...rows);
  return made;
}
