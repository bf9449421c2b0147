/** Formats numbers, durations and times for people. All times are UTC. */

const SECOND = 1000;

/** Formats a number, for example as `1,000,000`. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** Formats a number of items, for example as `1 pet` or `1,000,000 pets`. */
export function counted(value: number, item: string): string {
  return `${number(value)} ${item}${value === 1 ? '' : 's'}`;
}

/** Formats the rate of `count` items in `elapsed` milliseconds, for example as `256,000/s`. */
export function rate(count: number, elapsed: number): string {
  return `${number(Math.round(count / (Math.max(elapsed, 1) / SECOND)))}/s`;
}

/** Formats a duration in milliseconds, for example as `8 ms`, `3.9 s`, `2 min 5 s` or `1 h 20 min`. */
export function duration(elapsed: number): string {
  if (Math.round(elapsed) < SECOND) return `${Math.round(elapsed)} ms`;
  const seconds = elapsed / SECOND;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Formats the duration of a completed command and, if the rate is meaningful, the rate: `3.9 s (256,000/s)`. */
export function durationAndRate(count: number, elapsed: number): string {
  return Math.round(elapsed) < SECOND ? duration(elapsed) : `${duration(elapsed)} (${rate(count, elapsed)})`;
}

/** Formats a time as a date, such as `2027-01-31`. */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Formats a time as a date and a time of day, such as `2027-01-31 14:05 UTC`. */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * Formats the last day on which a key is active: the date of the last millisecond before `expiresAt`. For a key that
 * expires at midnight, this is the day that ends at that time.
 */
export function lastDay(expiresAt: number): string {
  return day(expiresAt - 1);
}
