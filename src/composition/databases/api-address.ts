import { invalidRequest } from '../../domain/errors.ts';

/** Matches an address without user name, query and fragment. */
const ADDRESS = /^\/\/[^/?#@]+(?:\/[^?#]*)?$/;

/** Returns the base address of a server, without a slash at its end. Throws `invalid_request` for any other text. */
export function parseApiAddress(rest: string, scheme: string): string {
  const address = `${scheme}:${rest}`;
  if (ADDRESS.test(rest) && URL.canParse(address)) return new URL(address).href.replace(/\/+$/, '');
  const expected = `expected the base address of a server, such as ${scheme}://HOST/v1`;
  throw invalidRequest(`${expected}, without user name, query and fragment`);
}
