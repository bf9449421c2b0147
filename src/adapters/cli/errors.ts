/** How a command that fails says so, and with which exit status. */

import { withoutApiKeys } from '../../domain/api-key.ts';
import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';

const FAILED = 1;
export const WRONG_USAGE = 2;

const EXIT_STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: WRONG_USAGE,
  not_found: FAILED,
  overloaded: FAILED,
  storage_unavailable: FAILED,
  internal_error: FAILED,
};

/** A command that could not do what it was rightly asked for; the message is for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The user asked for something that there is not. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function exitStatusOf(error: unknown): number {
  if (error instanceof UsageError) return WRONG_USAGE;
  if (error instanceof Error && error.name === 'ConfigError') return WRONG_USAGE;
  const known = asAnimalStoreError(error);
  return known === undefined ? FAILED : EXIT_STATUS_OF[known.code];
}

/** One line per fault, without a stack, and without a key that was given in a wrong place. */
export function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return withoutApiKeys(message.trim()).replaceAll(/^/gm, 'animal-store: ');
}

/** Whether the other end of a pipe has gone: `animal-store export | head`. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
