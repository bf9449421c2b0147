/** An error as the log shows it: bounded, without API keys, and without properties that may hold a request's body. */

import { withoutApiKeys } from '../../domain/api-key.ts';

const STACK_LIMIT = 8_000;
const KIND_LIMIT = 300;
const CAUSES_LIMIT = 5;

export interface ErrorFields {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
  /** With the stacks of the error's causes. */
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

/** Two errors of the same kind have the same codes and the same message. */
export function errorKind(error: unknown): string {
  const codes = causesOf(error).flatMap((cause) => codeOf(cause) ?? []);
  const message = error instanceof Error ? error.message : textOf(error);
  return shown([...codes, message].join(': '), KIND_LIMIT);
}

/** The error, its cause, and so on. */
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

/** A thrown object can have a `toString` that throws, or none. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

/** Keys are taken out before the text is cut: half a key would not be recognised. */
function shown(text: string, limit = STACK_LIMIT): string {
  const safe = withoutApiKeys(text);
  return safe.length > limit ? `${safe.slice(0, limit)}…` : safe;
}
