/** Checks API keys (RFC 6750). */

import type { ApiKeyHolder, ApiKeyVerifier } from '../../application/ports/api-key-verifier.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, isRepeated, METRICS_PATH, needsApiKey, type Stage } from './context.ts';
import { HttpError } from './errors.ts';

/** A valid `Authorization` field. The scheme is case-insensitive (RFC 9110, section 11.1; RFC 6750, section 2.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

const BEARER_SCHEME = /^bearer(?:[ \t]|$)/i;
const USAGE = 'Authorization: Bearer <API_KEY>';
const CHALLENGE = 'Bearer realm="animal-store"';

/**
 * Responds with 401 to requests without a valid API key for every path under `/v1`, before anything else is said about
 * them. The response discloses nothing about the API.
 */
export function authenticate(verifier: ApiKeyVerifier, hasMetrics: boolean): Stage {
  return async (ctx, next) => {
    const state = ctx.state.animalStore;
    if (state.path === '') throw invalidRequest('the request target is not a URL');
    if (needsApiKey(state.path) || (hasMetrics && state.path === METRICS_PATH)) {
      state.holder = await verifyKey(verifier, bearerKey(ctx));
      if (state.holder === undefined) throw invalidKey();
    }
    await next();
  };
}

/**
 * Returns the API key in the `Authorization` field, which may not exist. Throws `unauthorized` when the field is missing,
 * malformed or repeated. The message never contains a part of the field, because any part can be a key.
 */
function bearerKey(ctx: Context): string {
  const authorization = fieldOf(ctx, 'authorization');
  if (authorization === undefined) {
    throw new HttpError('unauthorized', `an API key is required: ${USAGE}`, {
      'WWW-Authenticate': CHALLENGE,
    });
  }
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) throw invalidKey(faultOf(authorization));
  if (isRepeated(ctx, 'authorization')) throw invalidKey('Authorization must be given once');
  return key;
}

function faultOf(authorization: string): string {
  if (BEARER_SCHEME.test(authorization)) return `expected one API key after Bearer: ${USAGE}`;
  return /[ \t]/.test(authorization)
    ? `Authorization must have the scheme Bearer: ${USAGE}`
    : `the scheme Bearer is missing before the API key: ${USAGE}`;
}

/** Creates the error for an API key that is malformed, unknown, expired or revoked. */
function invalidKey(message = 'the API key is not valid'): HttpError {
  const challenge = `${CHALLENGE}, error="invalid_token"`;
  return new HttpError('unauthorized', message, { 'WWW-Authenticate': challenge });
}

/** A verifier can be code of the host that no compiler has checked, and a key without an id must not be let in. */
async function verifyKey(verifier: ApiKeyVerifier, key: string): Promise<ApiKeyHolder | undefined> {
  const found: unknown = await verifier.verify(key);
  if (found === undefined || found === null || found === false) return undefined;
  const { id, callerId } = found as Partial<ApiKeyHolder>;
  for (const each of [id, callerId ?? id]) {
    if (typeof each !== 'string' || each === '') {
      throw new TypeError('apiKeys.verify: expected undefined, or an object with an id that is a string');
    }
  }
  return found as ApiKeyHolder;
}

/** Stands in front of creates: refuses a key that may only read (RFC 6750, section 3.1). */
export const requireWriteAccess: Stage = (ctx, next) => {
  if (!ctx.state.animalStore.holder?.isReadOnly) return next();
  const challenge = `${CHALLENGE}, error="insufficient_scope"`;
  const message = 'the API key is read-only: it may list and read pets, but not create one';
  throw new HttpError('forbidden', message, { 'WWW-Authenticate': challenge });
};
