/** Reads JSON bodies. */

import { MIMEType } from 'node:util';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import { newPetMembers } from './schemas.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT: number = 16 * 1024;

const MEDIA_TYPE = 'application/json';
const UNSUPPORTED = `Content-Type must be ${MEDIA_TYPE}, without a charset or with charset=utf-8, and Content-Encoding must be absent`;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Resolves with the whole body. Rejects with the errors below. */
export type ReadBytes = (ctx: Context) => Promise<Uint8Array>;

export const requireJson: Stage = (ctx, next) => {
  if (isJson(fieldOf(ctx, 'content-type')) && ctx.req.headers['content-encoding'] === undefined)
    return next();
  throw new HttpError('unsupported_media_type', UNSUPPORTED, { Accept: MEDIA_TYPE });
};

function isJson(contentType = ''): boolean {
  if (contentType === MEDIA_TYPE) return true;
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === MEDIA_TYPE && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

/** Sets `ctx.request.body` to the members of the body. */
export function readJson(readBytes: ReadBytes): Stage {
  return async (ctx, next) => {
    const bytes = await readBytes(ctx);
    if (bytes.length === 0) throw invalidRequest('the body is missing');
    try {
      ctx.request.body = newPetMembers(utf8.decode(bytes));
    } catch (error) {
      // The decoder throws a `TypeError`.
      throw invalidRequest(`the body is ${asAnimalStoreError(error)?.message ?? 'not valid UTF-8'}`);
    }
    await next();
  };
}

/** Reads a stream to its end. */
export async function readChunks(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // A loop that ends early cancels the stream, so that the rest of the body is not received.
    for await (const chunk of body) {
      size += chunk.length;
      if (size > BODY_LIMIT) throw bodyTooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HttpError ? error : bodyIncomplete();
  }
  return Buffer.concat(chunks);
}

export function bodyTooLarge(): Error {
  return new HttpError('payload_too_large', `the body must have at most ${BODY_LIMIT} bytes`);
}

export function bodyIncomplete(): Error {
  return invalidRequest('the body ended early');
}

/** The error of a host that has read the body, or a part of it, before this API. The client gets status 500. */
export function bodyRead(): Error {
  return new Error('the body was read before this API: put the API in front of what reads bodies');
}
