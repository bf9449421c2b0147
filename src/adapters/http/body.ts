/** Reads JSON bodies with koa-bodyparser. */

import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIMEType } from 'node:util';
import bodyParser, { type Options } from 'koa-bodyparser';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { checkBody, isRepeated } from './check-head.ts';
import { HttpError } from './errors.ts';
import { newPetMembers } from './schemas.ts';
import type { ApiContext, ApiMiddleware } from './state.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT: number = 16 * 1024;
const TOO_LARGE = new HttpError('payload_too_large', `the body must have at most ${BODY_LIMIT} bytes`);

const MEDIA_TYPE = 'application/json';
/** The media type of a change. A change can also be sent as plain JSON. */
export const PATCH_TYPE = 'application/merge-patch+json';
export const ACCEPT_PATCH: string = `${PATCH_TYPE}, ${MEDIA_TYPE}`;

/** Refuses a body that has none of the media types, and lists them in `field` (RFC 9110, 15.5.16; RFC 5789, 3.1). */
function requireType(field: 'Accept' | 'Accept-Patch', ...types: readonly string[]): ApiMiddleware {
  const unsupported = `Content-Type must be ${types.join(' or ')}, without a charset or with charset=utf-8, and Content-Encoding must be absent`;
  return ({ req }, next) => {
    const { 'content-type': type, 'content-encoding': coding } = req.headers;
    if (hasType(types, type) && coding === undefined && !isRepeated(req, 'content-type')) return next();
    throw new HttpError('unsupported_media_type', unsupported, { [field]: types.join(', ') });
  };
}

export const requireJson: ApiMiddleware = requireType('Accept', MEDIA_TYPE);
export const requirePatch: ApiMiddleware = requireType('Accept-Patch', PATCH_TYPE, MEDIA_TYPE);

function hasType(types: readonly string[], contentType = ''): boolean {
  if (contentType === MEDIA_TYPE) return true;
  try {
    const { essence, params } = new MIMEType(contentType);
    return types.includes(essence) && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

/**
 * With `encoding: null`, the parser returns bytes. If it parsed JSON, it would round large integers. If it decoded text, it would
 * replace invalid UTF-8. The cast is necessary because the type `Options` lacks `encoding`.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: [MEDIA_TYPE, PATCH_TYPE] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

/** Sets `ctx.request.body` to the bytes of the body. */
export const readBody: ApiMiddleware = async (ctx, next) => {
  const { req, request } = ctx;
  checkBody(req);
  // If the host program has already read a part of the body, the fault is its own, so the status is 500.
  if (req.readableDidRead || req.readableEncoding !== null || request.body !== undefined)
    throw new Error('the body was read before this API: put the API in front of what reads bodies');
  // Over HTTP/2, no field says whether there is a body, but the parser needs such a field.
  if (req.httpVersionMajor >= 2) req.headers['transfer-encoding'] = 'chunked';
  try {
    // The parser would wait for the bytes of a body of 2^31 bytes or more, instead of refusing it at once.
    if (Number(req.headers['content-length']) > BODY_LIMIT) throw TOO_LARGE;
    // A host may have set this to true, so that its own parser leaves the body to the API.
    ctx['disableBodyParser'] = false;
    await parse(ctx, async () => {});
  } catch (error) {
    if ((error as { status?: number }).status !== 413)
      throw error instanceof HttpError ? error : invalidRequest('the body ended early');
    await discardBody(ctx);
    throw TOO_LARGE;
  }
  await next();
};

/** How long a client may go on sending a body that is too large, in milliseconds. */
const LINGER_TIME = 1000;

/**
 * Discards the rest of a body for a limited time. Otherwise, Node.js would close the connection at once after the response, and a
 * client that is still sending could lose the response. Later requests on the connection are ignored. A `Request` of the Fetch
 * standard has no connection, so the stream of its body is cancelled.
 */
async function discardBody({ req, res }: ApiContext): Promise<void> {
  res.shouldKeepAlive = false;
  if (!(req.socket instanceof Socket)) return void req.destroy();
  req.resume();
  await Promise.race([finished(req).catch(() => {}), sleep(LINGER_TIME, undefined, { ref: false })]);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Sets `ctx.request.body` to the members of the body. */
export const parseJson: ApiMiddleware = (ctx, next) => {
  const { body } = ctx.request;
  // Without a body, the parser sets an empty object.
  if (!ArrayBuffer.isView(body) || body.byteLength === 0) throw invalidRequest('the body is missing');
  try {
    ctx.request.body = newPetMembers(utf8.decode(body as Uint8Array));
  } catch (error) {
    // An error of the decoder is not an `AnimalStoreError`.
    throw invalidRequest(`the body is ${asAnimalStoreError(error)?.message ?? 'not valid UTF-8'}`);
  }
  if (ctx.request.body === undefined) throw invalidRequest('the body must be a JSON object');
  return next();
};
