/** Describes deprecated operations to the users of a client. */

import { FUNCTION, type Rule } from './arguments.ts';

/** A deprecated operation of a server. */
export interface Deprecation {
  /** The name, such as `getPet`. */
  readonly operation: string;
  readonly since: Date | undefined;
  /** When the operation is due for removal, if the server has named a time. */
  readonly sunset: Date | undefined;
}

export const DEPRECATION_RULES: { readonly onDeprecation: Rule } = { onDeprecation: FUNCTION };
