import { visible } from '../../../domain/visible.ts';
import { type Screen, styled } from './console.ts';

export interface Row {
  readonly cells: readonly string[];
  /** Whether the row is dimmed. */
  readonly isInactive?: boolean;
}

const GAP = '  ';
/** The index of the column of names. */
const NAMES = 1;
const MIN_WIDTH = 8;
const segmenter = new Intl.Segmenter('en');

/** Matches a character that occupies two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;

/**
 * Aligns the columns, escapes the cells, and truncates the names on a narrow screen.
 *
 * @param head `undefined` for more rows of a table
 * @param widths the widths of the columns so far, which grow with the rows
 */
export function table(
  head: readonly string[] | undefined,
  given: readonly Row[],
  screen: Screen,
  widths: number[] = [],
): string {
  const { columns } = screen;
  const rows = given.map((row) => ({ ...row, cells: row.cells.map(visible) }));
  for (const cells of [head ?? [], ...rows.map((row) => row.cells)]) {
    for (const [index, cell] of cells.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
  }
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  const excess = columns === undefined ? 0 : Math.max(0, total - columns);
  if (excess > 0) widths[NAMES] = Math.max((widths[NAMES] ?? 0) - excess, MIN_WIDTH);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => inWidth(cell, widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  const lines = rows.map(({ cells, isInactive }) =>
    isInactive ? styled('dim', line(cells), screen) : line(cells),
  );
  const title = head === undefined ? [] : [styled('bold', line(head), screen)];
  return `${[...title, ...lines].join('\n')}\n`;
}

function inWidth(text: string, width: number): string {
  const missing = width - widthOf(text);
  if (missing >= 0) return text + ' '.repeat(missing);
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    if (widthOf(kept) + widthOf(segment) >= width) break;
    kept += segment;
  }
  return `${kept}…${' '.repeat(width - widthOf(kept) - 1)}`;
}

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
