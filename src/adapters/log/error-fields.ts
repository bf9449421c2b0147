/** Formats errors for the log, without API keys. */

import { withoutApiKeys } from '../../domain/api-key.ts';

const STACK_LIMIT = 8_000;
const KIND_LIMIT = 300;
const CAUSES_LIMIT = 5;

/** Returns the fields that are logged. Other properties of an error may contain a request body. */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: shown(textOf(error)) };
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

/** Removes API keys before the text is truncated, because a truncated key would not be recognized. */
function shown(text: string, limit = STACK_LIMIT): string {
  const safe = withoutApiKeys(text);
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}
