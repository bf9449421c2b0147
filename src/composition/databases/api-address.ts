import { invalidRequest } from '../../domain/errors.ts';

/** Matches the part of an address after its scheme. It must not have a user name, a query or a fragment. */
const ADDRESS = /^\/\/[^/?#@]+(?:\/[^?#]*)?$/;

/** Returns the base address of a server, without a final slash. Throws `invalid_request` for an invalid address. */
export function parseApiAddress(rest: string, scheme: string): string {
  const address = `${scheme}:${rest}`;
  if (ADDRESS.test(rest) && URL.canParse(address)) return new URL(address).href.replace(/\/+$/, '');
  const expected = `expected the base address of a server, such as ${scheme}://HOST/v1`;
  throw invalidRequest(`${expected}, without user name, query and fragment`);
}
