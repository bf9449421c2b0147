/** The ids and the path by which logs name a request. None of them contains a part of an API key. */

import { randomBytes } from 'node:crypto';
import { API_KEY_PREFIX, secretPartFinder } from '../../domain/api-key.ts';
import { type Context, fieldOf } from './context.ts';

/** Returns whether a text contains a part of an API key that can have any format. */
export type IsSecret = (text: string) => boolean;

/** A text that is too short to be secret, a UUID, or 32 hexadecimal digits. A generated API key has none of these forms. */
const REQUEST_ID = /^(?:[\w-]{1,15}|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32})$/i;

/** A shorter request id is never compared with an API key: a client could guess a key character by character. */
const SHORT = 15;

/** Created on use, because workerd refuses random bytes before the first request. */
let processId: string | undefined;
let counter = 0;

export function newRequestId(): string {
  processId ??= randomBytes(6).toString('base64url');
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}

/** Returns the `X-Request-Id` of the client, or a new id if it is missing or malformed, or may contain an API key. */
export function requestIdOf(ctx: Context, isSecret: IsSecret): string {
  const given = fieldOf(ctx, 'x-request-id');
  if (given === undefined || !REQUEST_ID.test(given)) return newRequestId();
  return given.length > SHORT && containsKey(ctx, given, isSecret) ? newRequestId() : given;
}

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function traceparentOf(ctx: Context, isSecret: IsSecret): string | undefined {
  const given = fieldOf(ctx, 'traceparent');
  return given === undefined || !TRACEPARENT.test(given) || isSecret(given) ? undefined : given;
}

/** Whether a text contains a part of a key of the operator, or of the key that the client presents. */
function containsKey(ctx: Context, text: string, isSecret: IsSecret): boolean {
  return isSecret(text) || secretPartFinder([fieldOf(ctx, 'authorization') ?? ''])(text);
}

/** In characters. */
const SHOWN_LENGTH = 200;

/** Returns the path of a request as a log may show it: escaped, and masked if it has a part of a key. */
export function shownPath(ctx: Context, isSecret: IsSecret): string {
  const { path } = ctx.state.animalStore;
  const shown = path.slice(0, SHOWN_LENGTH);
  if (hasKey(ctx, shown, isSecret)) return `… (${path.length} characters)`;
  return shown.replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

/** Whether a text, or what it becomes when its percent-encodings are decoded, has a part of a key. */
function hasKey(ctx: Context, text: string, isSecret: IsSecret): boolean {
  if (text.toLowerCase().includes(API_KEY_PREFIX) || containsKey(ctx, text, isSecret)) return true;
  const decoded = text.replaceAll(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  return decoded !== text && hasKey(ctx, decoded, isSecret);
}
