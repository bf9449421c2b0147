/**
 * Points in time as canonical text, in UTC with milliseconds. Equal times have equal texts, and a later time has a text that sorts
 * later.
 */

/** A time such as `2027-01-31T12:30:00.000Z`, from year 0001 to 9999. */
export type Timestamp = `${number}-${number}-${number}T${number}:${number}:${number}Z`;

export const TIMESTAMP_MIN: Timestamp = '0001-01-01T00:00:00.000Z';
export const TIMESTAMP_MAX: Timestamp = '9999-12-31T23:59:59.999Z';

const RFC_3339 =
  /^(?!0000)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/**
 * Returns the canonical text of an RFC 3339 time, which may have any offset and at most 3 decimals. Returns `undefined`
 * for any other value.
 */
export function toTimestamp(given: unknown): Timestamp | undefined {
  const parts = typeof given === 'string' ? RFC_3339.exec(given) : null;
  if (parts === null) return undefined;
  const [, local = '', fraction = '', sign, hours, minutes] = parts;
  const written = `${local.toUpperCase()}.${fraction.padEnd(3, '0')}Z`;
  const time = Date.parse(written);
  // `Date.parse` accepts 24:00, and reads February 30th as a day in March.
  if (Number.isNaN(time) || new Date(time).toISOString() !== written) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -60_000 : 60_000);
  const utc = new Date(time - offset).toISOString();
  // A year before 0000 or after 9999 begins with a sign, which sorts before every digit.
  return utc >= TIMESTAMP_MIN ? (utc as Timestamp) : undefined;
}
