/** Checks the head of a request: its API key (RFC 6750), and what HTTP demands (RFC 9112). */

import type { ApiKeyVerifier } from '../../application/ports/api-key-verifier.ts';
import { invalidRequest } from '../../domain/errors.ts';
import {
  type Context,
  fieldOf,
  isFramed,
  isRepeated,
  METRICS_PATH,
  needsApiKey,
  type Stage,
} from './context.ts';
import { HttpError } from './errors.ts';

/** A valid `Authorization` field. The scheme is case-insensitive (RFC 9110, section 11.1; RFC 6750, section 2.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

const BEARER_SCHEME = /^bearer(?:[ \t]|$)/i;
const USAGE = 'Authorization: Bearer <API_KEY>';
const CHALLENGE = 'Bearer realm="animal-store"';

/** Responds with 401 before anything else is said about a path under `/v1`: the response discloses nothing about the API. */
export function authenticate(verifier: ApiKeyVerifier, hasMetrics: boolean): Stage {
  return async (ctx, next) => {
    const state = ctx.state.animalStore;
    if (state.path === '') throw invalidRequest('the request target is not a URL');
    if (needsApiKey(state.path) || (hasMetrics && state.path === METRICS_PATH)) {
      state.holder = await verifier.verify(bearerKey(ctx));
      // A verifier is code of the host, which no compiler may have checked.
      if (!state.holder?.id) throw unauthorized('the API key is not valid');
    }
    await next();
  };
}

/** Returns the API key in the `Authorization` field, which may not exist. No message contains a part of the field. */
function bearerKey(ctx: Context): string {
  const authorization = fieldOf(ctx, 'authorization');
  if (authorization === undefined) throw unauthorized(`an API key is required: ${USAGE}`, CHALLENGE);
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) throw unauthorized(`${faultOf(authorization)}: ${USAGE}`);
  if (isRepeated(ctx, 'authorization')) throw unauthorized('Authorization must be given once');
  return key;
}

function faultOf(authorization: string): string {
  if (BEARER_SCHEME.test(authorization)) return 'expected one API key after Bearer';
  return /[ \t]/.test(authorization)
    ? 'Authorization must have the scheme Bearer'
    : 'the scheme Bearer is missing before the API key';
}

function unauthorized(message: string, challenge = `${CHALLENGE}, error="invalid_token"`): HttpError {
  return new HttpError('unauthorized', message, { 'WWW-Authenticate': challenge });
}

export const READ_ONLY = 'the API key is read-only: it may only list and read pets';

/** Stands in front of each operation that changes something: refuses a key that may only read (RFC 6750, section 3.1). */
export const requireWriteAccess: Stage = (ctx, next) => {
  if (!ctx.state.animalStore.holder?.isReadOnly) return next();
  const challenge = `${CHALLENGE}, error="insufficient_scope"`;
  throw new HttpError('forbidden', READ_ONLY, { 'WWW-Authenticate': challenge });
};

/** Refuses what HTTP forbids and Node.js would accept, or refuse with an empty body (RFC 9112, sections 3.2 and 6.1). */
export const checkHead: Stage = (ctx, next) => {
  const { httpVersion } = ctx.req;
  if (httpVersion === '0.9') throw invalidRequest('the version is missing: expected HTTP/1.0 or HTTP/1.1');
  const isHttp11 = httpVersion === '1.1';
  if (!isFramed(ctx.req)) {
    throw invalidRequest(isHttp11 ? 'Transfer-Encoding must be chunked' : 'Transfer-Encoding needs HTTP/1.1');
  }
  const host = fieldOf(ctx, 'host');
  // A `Request` has the values of repeated fields in one.
  if (host === undefined ? isHttp11 : isRepeated(ctx, 'host') || host.includes(',')) {
    throw invalidRequest('Host must be given once');
  }
  return next();
};
