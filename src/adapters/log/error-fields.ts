/** The fields of an error that are logged. Its other properties may contain a request body. */

import { withoutApiKeys } from '../../domain/api-key.ts';
import { isError } from '../../domain/errors.ts';

const LENGTH_LIMIT = 8_000;
const CAUSES_LIMIT = 5;

export function errorFields(error: unknown): object {
  if (!isError(error)) return { type: typeof error, message: textOf(error) };
  const stacks = causesOf(error).map((cause) => (isError(cause) && cause.stack) || textOf(cause));
  const stack = textOf(stacks.join('\ncaused by: '));
  return { type: textOf(error.name), code: codeOf(error), message: textOf(error.message), stack };
}

/** Returns the kind of an error: its code and those of its causes, or else its name. Each kind is logged at most once a second. */
export function errorKind(error: unknown): string {
  const codes = causesOf(error).flatMap((cause) => codeOf(cause) ?? []);
  return codes.join(': ') || (isError(error) ? textOf(error.name) : typeof error);
}

/** Returns the error, its cause, the cause of this cause, and so on, up to a limit. */
function causesOf(error: unknown, limit = CAUSES_LIMIT): unknown[] {
  const cause = isError(error) && limit > 1 ? error.cause : undefined;
  return cause === undefined ? [error] : [error, ...causesOf(cause, limit - 1)];
}

function codeOf(error: unknown): string | undefined {
  return isError(error) && 'code' in error ? textOf(error.code) : undefined;
}

/** Removes API keys before the text is cut, because a part of a key would not be recognized. */
function textOf(value: unknown): string {
  // If the value is an object, only its type is logged, because the object can contain a request body.
  const text = withoutApiKeys(Object(value) === value ? typeof value : String(value));
  return text.length > LENGTH_LIMIT ? `${text.slice(0, LENGTH_LIMIT)}…` : text;
}
