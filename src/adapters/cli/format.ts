/** Formats numbers, durations in milliseconds, and times in UTC for people. */

import type { BackupContents } from '../../application/ports/maintenance.ts';

/** `1,000,000` */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 pet`, `1,000,000 pets` */
export function counted(value: number, item: string): string {
  return `${number(value)} ${item}${value === 1 ? '' : 's'}`;
}

/** `8 ms`, `3.9 s`, `125 s` */
export function duration(elapsed: number): string {
  if (elapsed < 999.5) return `${Math.round(elapsed)} ms`;
  return `${elapsed < 9950 ? (elapsed / 1000).toFixed(1) : number(Math.round(elapsed / 1000))} s`;
}

/** `2027-01-31` */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2027-01-31 14:05 UTC` */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `1,000,000 pets up to id 1000000 and 3 keys` */
export function contentsText({ pets, apiKeys, lastId }: Omit<BackupContents, 'problems'>): string {
  return `${counted(pets, 'pet')} up to id ${lastId} and ${counted(apiKeys, 'key')}`;
}
