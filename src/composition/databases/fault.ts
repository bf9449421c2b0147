/** The reason why a text, such as a database URL, is invalid. The reason contains no password. */
export class Fault {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Returns the fault of a text in a wrong format. A text that may contain a password is not shown. */
export function expected(what: string, text: string): Fault {
  const shown = mayHoldPassword(text) ? 'a value that may hold a password' : `'${text}'`;
  return new Fault(`expected ${what}, got ${shown}`);
}

/**
 * Whether a text may contain a password. In a URL, `@` follows the password. The `@` can be percent-encoded, or can be
 * a character that URL parsers normalize to `@`.
 */
export function mayHoldPassword(text: string): boolean {
  return /@|%40/.test(text.normalize('NFKC'));
}
