/** Formats a value for an error message. The value is not shown if it may contain a password. */
export function shownValue(text: string): string {
  return mayHoldPassword(text) ? 'a value that may hold a password' : `'${text}'`;
}

/**
 * Whether a text may contain a password. In a URL, a password is followed by `@`, by the percent-encoded `@`, or by a
 * character that URL parsers normalize to `@`.
 */
export function mayHoldPassword(text: string): boolean {
  return /@|%40/.test(text.normalize('NFKC'));
}
