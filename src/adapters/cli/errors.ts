/** How a command that fails says so, and with which exit status. */

import { withoutApiKeys } from '../../domain/api-key.ts';
import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';
import { visible } from './visible.ts';

export const DONE = 0;
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

/** Standard output cannot be written to. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
  /** Whether whoever read it has seen enough: `animal-store export | head`. */
  readonly isBrokenPipe: boolean;

  constructor(cause: Error) {
    super(`standard output cannot be written: ${cause.message}`, { cause });
    this.isBrokenPipe = 'code' in cause && cause.code === 'EPIPE';
  }
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof OutputError && error.isBrokenPipe;
}

export function exitStatusOf(error: unknown): number {
  if (error instanceof UsageError) return WRONG_USAGE;
  if (isConfigError(error)) return WRONG_USAGE;
  const known = asAnimalStoreError(error);
  return known !== undefined && Object.hasOwn(EXIT_STATUS_OF, known.code)
    ? EXIT_STATUS_OF[known.code]
    : FAILED;
}

/** One line per fault, without a stack, and without a key that was given in a wrong place. */
export function explain(error: unknown): string {
  const message = withoutApiKeys((error instanceof Error ? error.message : String(error)).trim());
  const faults = isConfigError(error) ? message.split('\n') : [message];
  return faults.map((fault) => `animal-store: ${visible(fault)}`).join('\n');
}

/** The only error with more than one fault. */
function isConfigError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConfigError';
}
