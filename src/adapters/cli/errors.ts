/** The exit statuses, and the format of all errors: `animal-store: what is wrong`, one line for each fault. */

import { withoutApiKeys } from '../../domain/api-key.ts';
import { isError } from '../../domain/errors.ts';
import { visible } from '../../domain/visible.ts';

export const DONE = 0;
const FAILED = 1;
/** The exit status of an error in the command line or in a setting. Such an error does not depend on the store. */
export const WRONG_USAGE = 2;

/** The error of a command that was used correctly, but failed. */
export class CommandError extends Error {}

export class UsageError extends Error {}

export class OutputError extends Error {
  constructor(cause: Error) {
    super(`standard output cannot be written: ${cause.message}`, { cause });
  }
}

/**
 * Whether the abort of the signal has caused an error. Returns `false` for an interrupted COMMIT, whose error has another `cause`:
 * that error must be shown, because it says that the outcome is unknown.
 */
export function isInterruption(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted && error === signal.reason) return true;
  return isError(error) && error.cause !== undefined && isInterruption(error.cause, signal);
}

/** Whether an error says that the reader has closed the pipe, as `head` does in `animal-store export | head`. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof OutputError && (error.cause as NodeJS.ErrnoException).code === 'EPIPE';
}

/** Lets a command go on after the reader has closed the pipe, so that the command can still fail for another reason. */
export function ignoreBrokenPipe(error: unknown): void {
  if (!isBrokenPipe(error)) throw error;
}

export function exitStatusOf(error: unknown): number {
  return error instanceof UsageError || isConfigError(error) ? WRONG_USAGE : FAILED;
}

/** Returns one line for each fault of an error, without API keys and passwords. */
export function explain(error: unknown): string {
  const message = (isError(error) ? error.message : String(error)).trim();
  const isRefusal = isError(error) && 'reason' in error && error.reason === 'overwrite_refused';
  const advice = isRefusal ? ': --force replaces it' : '';
  // The message of a `ConfigError` has one line per fault, and shows no value that can contain a password.
  const faults = isConfigError(error)
    ? withoutApiKeys(message).split('\n')
    : [withoutSecrets(message) + advice];
  return faults.map((fault) => `animal-store: ${visible(fault)}`).join('\n');
}

/** Hides API keys and passwords in a message, which can contain an invalid argument, such as a URL with a password. */
export function withoutSecrets(text: string): string {
  return withoutApiKeys(text)
    .replace(/:\/\/.*@/gs, '://…@')
    .replace(/:(?!\/\/)[^:@\s]+@/g, ':…@')
    .replace(/\b(password=)[^&\s]*/gi, '$1…');
}

function isConfigError(error: unknown): boolean {
  return isError(error) && error.name === 'ConfigError';
}
