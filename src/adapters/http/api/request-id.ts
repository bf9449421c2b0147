import { randomBytes } from 'node:crypto';
import { secretPartFinder } from '../../../domain/api-key-format.ts';
import { type Context, fieldOf } from './context.ts';

/** A text that is too short to be secret, a UUID, or 32 hexadecimal digits. A generated API key has none of these forms. */
const REQUEST_ID = /^(?:[\w-]{1,15}|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32})$/i;

/** A shorter request id is never compared with an API key: a client could guess a key character by character. */
const SHORT = 15;

/** Created on use, because workerd refuses random bytes before the first request. */
let processId: string | undefined;
let counter = 0;

/**
 * Returns the `X-Request-Id` of the client, or a new id if the field is missing or malformed, or may contain an API key,
 * because request ids are logged and sent in responses.
 *
 * @param isSecret whether a text contains a part of an API key that can have any format
 */
export function requestIdOf(ctx: Pick<Context, 'headers'>, isSecret: (text: string) => boolean): string {
  const given = fieldOf(ctx, 'x-request-id');
  if (given === undefined || !REQUEST_ID.test(given)) return newRequestId();
  if (given.length <= SHORT) return given;
  const isPresented = secretPartFinder([fieldOf(ctx, 'authorization') ?? '']);
  return isPresented(given) || isSecret(given) ? newRequestId() : given;
}

export function newRequestId(): string {
  processId ??= randomBytes(6).toString('base64url');
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}
