/** Reads the bodies of Node.js with koa-bodyparser. */

import type { IncomingMessage } from 'node:http';
import type { Context as KoaContext } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import { BODY_LIMIT, bodyIncomplete, bodyRead, bodyTooLarge, type ReadBytes, readChunks } from './body.ts';
import type { Context } from './context.ts';

/**
 * Without an encoding, it hands over bytes. As JSON it would round large integers, and as text replace invalid UTF-8. The
 * cast is necessary because the type `Options` lacks `encoding`.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

export const readNodeBytes: ReadBytes = async (apiContext) => {
  const ctx = apiContext as Context & KoaContext;
  const { req, request } = ctx;
  const rawBody = rawBodyOf(ctx);
  if (rawBody !== undefined) return rawBody;
  if (req.readableDidRead || req.readableEncoding !== null || request.body !== undefined) throw bodyRead();
  const length = Number(req.headers['content-length']);
  if (length > 0 && length <= BODY_LIMIT && req.readableLength === length) {
    // Most bodies arrive together with the head, and the parser takes longer than all other stages.
    const bytes: Uint8Array = req.read(length);
    req.resume();
    return bytes;
  }
  // The parser sees no body in a request over HTTP/2 that has no length.
  if (req.httpVersionMajor >= 2) return readChunks(req);
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw (error as { status?: number }).status === 413 ? bodyTooLarge() : bodyIncomplete();
  }
  // Without a body, the parser sets an empty object.
  const body: unknown = request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
};

/** Returns the bytes that a body parser of the host has kept. A parsed object is not exact. */
function rawBodyOf({ req, request }: KoaContext): Uint8Array | undefined {
  const { rawBody = request.rawBody } = req as IncomingMessage & { rawBody?: unknown };
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) return undefined;
  const bytes = typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody;
  if (bytes.length > BODY_LIMIT) throw bodyTooLarge();
  return bytes;
}
