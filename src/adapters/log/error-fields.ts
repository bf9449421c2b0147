/** The fields of an error that are logged. Its other properties may contain a request body. */

import { withoutApiKeys } from '../../domain/api-key.ts';

const LENGTH_LIMIT = 8_000;
const CODE_LIMIT = 300;
const CAUSES_LIMIT = 5;

export function errorFields(error: unknown): object {
  const stacks = causesOf(error).map((cause) => (cause instanceof Error && cause.stack) || textOf(cause));
  return {
    type: nameOf(error),
    code: codeOf(error),
    message: shown(error instanceof Error ? error.message : textOf(error)),
    ...(error instanceof Error && { stack: shown(stacks.join('\ncaused by: ')) }),
  };
}

/** Returns the codes of an error and of its causes, or else its name. Errors of one kind are logged once a second. */
export function errorKind(error: unknown): string {
  const codes = causesOf(error).flatMap((cause) => codeOf(cause) ?? []);
  return codes.join(': ') || nameOf(error);
}

/** Returns the error, its cause, the cause of its cause, and so on. */
function causesOf(error: unknown, limit = CAUSES_LIMIT): unknown[] {
  const cause = error instanceof Error && limit > 1 ? error.cause : undefined;
  return cause === undefined ? [error] : [error, ...causesOf(cause, limit - 1)];
}

function nameOf(error: unknown): string {
  return error instanceof Error ? shown(error.name, CODE_LIMIT) : typeof error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? shown(textOf(error.code), CODE_LIMIT) : undefined;
}

/** The `toString` method of a thrown object can be missing or throw. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

/** Removes API keys before the text is cut, because a part of a key would not be recognized. */
function shown(text: string, limit = LENGTH_LIMIT): string {
  const safe = withoutApiKeys(text);
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}
