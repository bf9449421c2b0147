/** Checks the API key of a request (RFC 6750). */

import type { ApiKeyVerifier } from '../../application/ports/api-key-verifier.ts';
import type { Caller } from '../../application/ports/idempotent-creates.ts';
import { textFault } from '../../domain/attribute.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { CALLER_MAX_LENGTH } from '../../domain/idempotency-key.ts';
import { fieldOf, isRepeated } from './check-head.ts';
import { HttpError } from './errors.ts';
import { METRICS_PATH, needsApiKey } from './paths.ts';
import type { ApiContext, ApiMiddleware, ApiState } from './state.ts';

/** A valid `Authorization` field. The scheme is case-insensitive (RFC 9110, section 11.1; RFC 6750, section 2.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

const BEARER_SCHEME = /^bearer(?:[ \t]|$)/i;
const USAGE = 'Authorization: Bearer <API_KEY>';
const CHALLENGE = 'Bearer realm="animal-store"';

/** Without a valid key, responds with 401 to every path under `/v1`, so that the status does not disclose which paths exist. */
export function authenticate(verifier: ApiKeyVerifier, hasMetrics: boolean): ApiMiddleware {
  return async (ctx, next) => {
    const state = ctx.state.animalStore;
    if (state.path === '') throw invalidRequest('the request target is not a URL');
    const isForMetrics = hasMetrics && state.path === METRICS_PATH;
    if (isForMetrics || needsApiKey(state.path)) {
      const key = bearerKey(ctx);
      // Metrics must be readable during an outage of the storage, because they report it.
      state.holder = await verifier.verify(key, isForMetrics ? { duringOutage: true } : undefined);
      // A host program can provide the verifier, perhaps without type checking, so the result of the verifier is checked.
      if (!state.holder?.id) throw unauthorized('the API key is not valid');
      const fault = textFault(callerOf(ctx.state), 1, CALLER_MAX_LENGTH);
      if (fault !== undefined) throw new TypeError(`the id or callerId of a key holder must ${fault}`);
    }
    await next();
  };
}

/** Returns the API key in `Authorization`, or throws `unauthorized`. The message contains no part of the field. */
function bearerKey({ req }: ApiContext): string {
  const authorization = fieldOf(req, 'authorization');
  if (authorization === undefined) throw unauthorized(`an API key is required: ${USAGE}`, CHALLENGE);
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined) throw unauthorized(`${faultOf(authorization)}: ${USAGE}`);
  if (isRepeated(req, 'authorization')) throw unauthorized('Authorization must be given once');
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

/** Refuses a read-only key. Runs before each operation that changes something (RFC 6750, section 3.1). */
export const requireWriteAccess: ApiMiddleware = (ctx, next) => {
  if (!ctx.state.animalStore.holder?.isReadOnly) return next();
  const challenge = `${CHALLENGE}, error="insufficient_scope"`;
  throw new HttpError('forbidden', READ_ONLY, { 'WWW-Authenticate': challenge });
};

/** Returns the id of the caller. API keys that replace one another by rotation have the same caller. */
export function callerOf({ animalStore: { holder } }: ApiState): string | undefined {
  return holder?.callerId ?? holder?.id;
}

/** Returns the caller and the idempotency key, or `undefined` if the request has no idempotency key. */
export function keyedCallerOf({ req, state }: ApiContext): Caller | undefined {
  const key = fieldOf(req, 'idempotency-key');
  return key === undefined ? undefined : { caller: callerOf(state) ?? '', key };
}
