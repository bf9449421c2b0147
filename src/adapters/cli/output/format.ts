/** Formats numbers, durations in milliseconds, and times in UTC for people. */

import type { BackupContents } from '../../../application/ports/maintenance.ts';

const SECOND = 1000;

/** `1,000,000` */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 pet`, `1,000,000 pets` */
export function counted(value: number, item: string): string {
  return `${number(value)} ${item}${value === 1 ? '' : 's'}`;
}

/** `256,000/s` */
export function rate(count: number, elapsed: number): string {
  return `${number(Math.round(count / (Math.max(elapsed, 1) / SECOND)))}/s`;
}

/** `8 ms`, `3.9 s`, `2 min 5 s`, `1 h 20 min` */
export function duration(elapsed: number): string {
  if (Math.round(elapsed) < SECOND) return `${Math.round(elapsed)} ms`;
  const seconds = elapsed / SECOND;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `3.9 s (256,000/s)`, without the rate if the duration is too short for one. */
export function durationAndRate(count: number, elapsed: number): string {
  return Math.round(elapsed) < SECOND ? duration(elapsed) : `${duration(elapsed)} (${rate(count, elapsed)})`;
}

/** `2027-01-31` */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2027-01-31 14:05 UTC` */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The last day on which a key is active: for a key that expires at midnight, the day that ends then. */
export function lastDay(expiresAt: number): string {
  return day(expiresAt - 1);
}

/** `1,000,000 pets up to id 1000000 and 3 keys` */
export function contentsText({ pets, apiKeys, lastId }: Omit<BackupContents, 'problems'>): string {
  return `${counted(pets, 'pet')} up to id ${lastId} and ${counted(apiKeys, 'key')}`;
}
