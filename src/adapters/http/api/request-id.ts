import { randomBytes } from 'node:crypto';
import { containsApiKey } from '../../../domain/api-key.ts';
import type { RequestHead } from './http.ts';

const REQUEST_ID = /^[\w-]{1,64}$/;

/** The minimum length of a secret part of an API key, in characters. Shorter parts of a key are not secret. */
const SECRET_LENGTH = 16;

const processId = randomBytes(6).toString('base64url');
let counter = 0;

/**
 * Returns the request id that the client sent in `X-Request-Id`. Creates a new id if the field is missing or malformed.
 * Also creates a new id if the field may contain an API key, because request ids are logged and sent in responses.
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
 * Whether a request id may contain an API key or a secret part of a key. The keys that the store generates are
 * recognized by their format. The keys in the environment variable `API_KEYS` can have any format, so the id is also
 * compared with the key in `Authorization`.
 */
function mayContainKey(id: string, authorization = ''): boolean {
  if (id.length < SECRET_LENGTH) return false;
  const key = authorization.slice(authorization.lastIndexOf(' ') + 1);
  if (key.includes(id) || (key.length >= SECRET_LENGTH && id.includes(key))) return true;
  return containsApiKey(id);
}
