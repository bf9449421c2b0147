/**
 * Formats errors for the log. API keys are removed, and long texts are truncated. Only the fields of {@link
 * ErrorFields} are logged, because other properties of an error may contain a request body.
 */

import { withoutApiKeys } from '../../domain/api-key-format.ts';

const STACK_LIMIT = 8_000;
const KIND_LIMIT = 300;
const CAUSES_LIMIT = 5;

export interface ErrorFields {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
  /** The stack of the error, followed by the stacks of its causes. */
  readonly stack: string | undefined;
}

export function errorFields(error: unknown): ErrorFields {
  if (!(error instanceof Error)) {
    return { type: typeof error, code: undefined, message: shown(textOf(error)), stack: undefined };
  }
  const stacks = causesOf(error).map((cause) => (cause instanceof Error && cause.stack) || textOf(cause));
  return {
    type: error.name,
    code: codeOf(error),
    message: shown(error.message),
    stack: shown(stacks.join('\ncaused by: ')),
  };
}

/** Returns the codes of an error and of its causes, then its message. */
export function errorKind(error: unknown): string {
  const codes = causesOf(error).flatMap((cause) => codeOf(cause) ?? []);
  const message = error instanceof Error ? error.message : textOf(error);
  return shown([...codes, message].join(': '), KIND_LIMIT);
}

/** Returns the error, its cause, the cause of its cause, and so on. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [error];
  for (let cause = error; causes.length < CAUSES_LIMIT; causes.push(cause)) {
    cause = cause instanceof Error ? cause.cause : undefined;
    if (cause === undefined) break;
  }
  return causes;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? shown(textOf(error.code), KIND_LIMIT) : undefined;
}

/** Converts a thrown value to a string. The `toString` method of a thrown object can be missing or throw. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

/**
 * Removes API keys from a text, and then truncates the text. If the text were truncated first, a truncated key would
 * not be recognized and removed.
 */
function shown(text: string, limit = STACK_LIMIT): string {
  const safe = withoutApiKeys(text);
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}
