/** Formats numbers and times in UTC for people. */

import type { BackupContents } from '../../application/ports/maintenance.ts';

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

/** `2027-01-31 14:05 UTC` */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `1,000,000 pets up to id 1000000 and 3 keys` */
export function contentsText({ pets, apiKeys, lastId }: Omit<BackupContents, 'problems'>): string {
  return `${counted(pets, 'pet', 'pets')} up to id ${lastId} and ${counted(apiKeys, 'key')}`;
}
