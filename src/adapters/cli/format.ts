/** Formats numbers, times in UTC, and tables for people. */

import Table from 'cli-table3';
import type { BackupContents } from '../../application/ports/maintenance.ts';
import { visible } from '../../domain/visible.ts';

/** `1,000,000` */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 pet`, `1,000,000 pets` */
export function counted(value: number, item: string, items: string = `${item}s`): string {
  return `${number(value)} ${value === 1 ? item : items}`;
}

/** `2027-01-31` */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2027-01-31 14:05:59 UTC`, rounded up, so that a key with this expiry is not valid after the time shown. */
export function moment(time: number): string {
  const rounded = new Date(Math.min(time + 999, Date.UTC(10_000, 0) - 1));
  return `${rounded.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `1,000,000 pets up to id 1000000 and 3 keys` */
export function contentsText({ pets, apiKeys, lastId }: Omit<BackupContents, 'problems'>): string {
  return `${counted(pets, 'pet', 'pets')} up to id ${lastId} and ${counted(apiKeys, 'key')}`;
}

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const CHARS = { ...Object.fromEntries(BORDERS.split(' ').map((name) => [name, ''])), middle: '  ' };
const STYLE = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };

/** Aligns the columns, and escapes the cells. Writes the new widths to `widths`, for the next part of the table. */
export function table(rows: readonly (readonly string[])[], widths: number[] = []): string {
  const made = new Table({ chars: CHARS, style: STYLE });
  for (const row of [widths.map((width) => ' '.repeat(width)), ...rows]) made.push(row.map(visible));
  const text = made.toString();
  Object.assign(widths, made.options.colWidths);
  return text.replace(/^.*\n/, '').replace(/ *$/gm, '').concat('\n');
}
