/** Tables for people, without borders. */

import Table from 'cli-table3';
import { visible } from '../../domain/visible.ts';

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const CHARS = { ...Object.fromEntries(BORDERS.split(' ').map((name) => [name, ''])), middle: '  ' };
const STYLE = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };

/** Aligns the columns, and escapes the cells. */
export function table(rows: readonly (readonly string[])[]): string {
  const made = new Table({ chars: CHARS, style: STYLE });
  made.push(...rows.map((row) => row.map(visible)));
  return made.toString().replace(/ *$/gm, '').concat('\n');
}
