/** Reads JSON bodies. */

import { MIMEType } from 'node:util';
import { type AnimalStoreError, asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, type Stage } from './context.ts';
import { HttpError } from './errors.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT: number = 16 * 1024;

const MEDIA_TYPE = 'application/json';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the whole body. Rejects with `payload_too_large` when the body is too large, and with `invalid_request` when it
 * ends early.
 */
export type ReadBytes = (ctx: Context) => Promise<Uint8Array>;

export const requireJson: Stage = (ctx, next) => {
  if (isJson(fieldOf(ctx, 'content-type')) && ctx.headers['content-encoding'] === undefined) return next();
  throw new HttpError(
    'unsupported_media_type',
    `Content-Type must be ${MEDIA_TYPE}, without a charset or with charset=utf-8, and Content-Encoding must be absent`,
    { Accept: MEDIA_TYPE },
  );
};

function isJson(contentType: string | undefined): boolean {
  if (contentType === MEDIA_TYPE) return true;
  try {
    const { essence, params } = new MIMEType(contentType ?? '');
    return essence === MEDIA_TYPE && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

/** Sets `ctx.request.body` to the parsed body. */
export function readJson(readBytes: ReadBytes, parse: (text: string) => unknown): Stage {
  return async (ctx, next) => {
    ctx.request.body = parsed(await readBytes(ctx), parse);
    await next();
  };
}

/** The messages of JavaScript engines show a part of the text, so they are not sent. */
function parsed(bytes: Uint8Array, parse: (text: string) => unknown): unknown {
  if (bytes.length === 0) throw invalidRequest('the body is missing');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidRequest('the body is not valid UTF-8');
  }
  try {
    return parse(text);
  } catch (error) {
    throw asAnimalStoreError(error) ?? invalidRequest('the body is not valid JSON');
  }
}

/** Reads a stream to its end. */
export async function readChunks(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // A loop that ends early cancels the stream, so that the rest of the body is not received.
    for await (const chunk of body) {
      size += chunk.length;
      if (size > BODY_LIMIT) break;
      chunks.push(chunk);
    }
  } catch {
    throw bodyIncomplete();
  }
  if (size > BODY_LIMIT) throw bodyTooLarge();
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

export function bodyTooLarge(): HttpError {
  return new HttpError('payload_too_large', `the body must have at most ${BODY_LIMIT} bytes`);
}

export function bodyIncomplete(): AnimalStoreError {
  return invalidRequest('the body ended early');
}

/** The error of a host that has read the body, or a part of it, before this API. The client gets status 500. */
export function bodyRead(): Error {
  return new Error(
    'the body was read before this API got the request: put the API in front of what reads bodies',
  );
}
