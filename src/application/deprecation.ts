/** Describes deprecated operations to the users of a client. */

import { FUNCTION, type Rule } from './arguments.ts';

/** An operation that a server will remove. */
export interface Deprecation {
  /** The name, such as `getPet`. */
  readonly operation: string;
  readonly since: Date | undefined;
  /** When the operation is due for removal, if the server says so. */
  readonly sunset: Date | undefined;
}

export const DEPRECATION_RULES: { readonly onDeprecation: Rule } = { onDeprecation: FUNCTION };
