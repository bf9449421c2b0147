import type { IncomingMessage } from 'node:http';
import { HttpError } from './errors.ts';

/** The scheme's name is case-insensitive, the key is not (RFC 9110, section 11.1; RFC 6750, section 2.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;
const CHALLENGE = 'Bearer realm="animal-store"';

/** The key that a request brings. Throws `unauthorized` when there is none, or what there is cannot be one. */
export function bearerKey({ headers, rawHeaders }: IncomingMessage): string {
  const { authorization } = headers;
  if (authorization === undefined)
    throw unauthorized('an API key is needed: Authorization: Bearer <API_KEY>');
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined || count(rawHeaders, 'authorization') > 1) throw wrongKey();
  return key;
}

/** The answer to a key that opens nothing. */
export function wrongKey(): HttpError {
  return unauthorized('the API key is not valid', ', error="invalid_token"');
}

/** How often a header field came: `headers` has only the first of some. */
export function count(rawHeaders: readonly string[], name: string): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times;
}

function unauthorized(message: string, detail = ''): HttpError {
  return new HttpError('unauthorized', message, ['WWW-Authenticate', CHALLENGE + detail]);
}
