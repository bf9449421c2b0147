import { invalidRequest } from '../../domain/errors.ts';

/** Throws `invalid_request` for a text in a wrong format. A text that may contain a password is not shown. */
export function refuse(what: string, text: string): never {
  const shown = mayHoldPassword(text) ? 'a value that may hold a password' : `'${text}'`;
  throw invalidRequest(`expected ${what}, got ${shown}`);
}

/** Whether a text contains `@`, which follows a password in a URL, or something that URL parsers turn into `@`. */
export function mayHoldPassword(text: string): boolean {
  return /@|%40/.test(text.normalize('NFKC'));
}
