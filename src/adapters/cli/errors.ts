import { OverwriteRefused } from '../../application/ports/maintenance.ts';
import { withoutApiKeys } from '../../domain/api-key.ts';
import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';
import { visible } from '../../domain/visible.ts';

export const DONE = 0;
const FAILED = 1;
export const WRONG_USAGE = 2;

const EXIT_STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: WRONG_USAGE,
  unauthorized: FAILED,
  forbidden: FAILED,
  not_found: FAILED,
  idempotency_conflict: FAILED,
  rate_limited: FAILED,
  overloaded: FAILED,
  storage_unavailable: FAILED,
  internal_error: FAILED,
};

const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such file',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a directory',
  EROFS: 'the file system is read-only',
};

export function reasonOf(error: unknown): string {
  const { message, code = '' } = error as Error & { readonly code?: string };
  const reason = FILE_REASONS[code];
  return reason === undefined ? message : `${reason} (${code})`;
}

/** The error of a command that failed although its usage was correct. */
export class CommandError extends Error {}

export class UsageError extends Error {}

/** The error of a file that a command must not read or write. Its message is complete without the help of the command. */
export class FileError extends UsageError {}

export class OutputError extends Error {
  constructor(cause: Error) {
    super(`standard output cannot be written: ${cause.message}`, { cause });
  }
}

/** Whether an error says that the reader has closed the pipe, as `head` does in `animal-store export | head`. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof OutputError && (error.cause as NodeJS.ErrnoException).code === 'EPIPE';
}

export function exitStatusOf(error: unknown): number {
  if (error instanceof UsageError || isConfigError(error)) return WRONG_USAGE;
  return EXIT_STATUS_OF[asAnimalStoreError(error)?.code ?? 'internal_error'];
}

/** Returns one line for each fault of an error, without API keys. The help of `command` explains the correct usage. */
export function explain(error: unknown, command = 'animal-store'): string {
  const text = withoutApiKeys((error instanceof Error ? error.message : String(error)).trim());
  const message = text + adviceOn(error, command);
  // Only a `ConfigError` can contain several faults, one per line.
  const faults = isConfigError(error) ? message.split('\n') : [message];
  return faults.map((fault) => `animal-store: ${visible(fault)}`).join('\n');
}

function adviceOn(error: unknown, command: string): string {
  if (error instanceof OverwriteRefused) return ': --force replaces it';
  return error instanceof UsageError && !(error instanceof FileError) ? ` (see ${command} --help)` : '';
}

function isConfigError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConfigError';
}
