import { randomBytes } from 'node:crypto';
import { containsApiKey } from '../../../domain/api-key.ts';
import type { RequestHead } from './http.ts';

const REQUEST_ID = /^[\w-]{1,64}$/;

/** The minimum length of a part of an API key that must stay secret, in characters. */
const SECRET_LENGTH = 16;

const processId = randomBytes(6).toString('base64url');
let counter = 0;

/**
 * Returns `X-Request-Id`, or a new id when the field is missing or malformed. A field that may contain an API key is
 * replaced by a new id, because ids are logged and sent in responses.
 */
export function requestIdOf({ headers }: RequestHead): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && REQUEST_ID.test(given) && !mayContainKey(given, headers.authorization)) {
    return given;
  }
  return newRequestId();
}

export function newRequestId(): string {
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}

/**
 * Whether an id may contain an API key or a secret part of a key. Generated keys are recognized by their format. Keys
 * from `API_KEYS` can have any format, and are recognized by comparison with the key in `Authorization`.
 */
function mayContainKey(id: string, authorization = ''): boolean {
  if (id.length < SECRET_LENGTH) return false;
  const key = authorization.slice(authorization.lastIndexOf(' ') + 1);
  if (key.includes(id) || (key.length >= SECRET_LENGTH && id.includes(key))) return true;
  return containsApiKey(id);
}
