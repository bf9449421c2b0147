/** How a command that fails says so, and with which exit status. */

import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';

const FAILED = 1;
const WRONG_USAGE = 2;

const EXIT_STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: WRONG_USAGE,
  not_found: FAILED,
  overloaded: FAILED,
  storage_unavailable: FAILED,
  internal_error: FAILED,
};

export function exitStatusOf(error: unknown): number {
  if (error instanceof Error && error.name === 'ConfigError') return WRONG_USAGE;
  const known = asAnimalStoreError(error);
  return known === undefined ? FAILED : EXIT_STATUS_OF[known.code];
}

/** One line per fault, without a stack. */
export function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/^/gm, 'animal-store: ');
}
