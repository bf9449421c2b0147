/** Formats a value for an error message. A value that may contain a password is replaced by a fixed text. */
export function shownValue(text: string): string {
  return mayHoldPassword(text) ? 'a value that may hold a password' : `'${text}'`;
}

/**
 * Whether a text may contain a password. In a URL, `@` follows the password. The `@` can be percent-encoded, or can be
 * a character that URL parsers normalize to `@`.
 */
export function mayHoldPassword(text: string): boolean {
  return /@|%40/.test(text.normalize('NFKC'));
}
