/** Reads the bytes of a request body. A body that has not arrived completely is read with koa-bodyparser. */

import type { Context } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import { BODY_LIMIT, bodyIncomplete, bodyTooLarge } from '../api/json-body.ts';

/**
 * Reads the body as bytes, because `encoding` is `null`. If koa-bodyparser parsed the JSON, it would round large
 * integers. If koa-bodyparser decoded the text, it would replace invalid UTF-8 instead of reporting an error. The cast
 * is necessary because the type `Options` lacks `encoding`.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

/**
 * Returns the body if it has arrived together with the head, as most bodies do, and otherwise a promise. Throws or rejects
 * with `payload_too_large` when the body has more than {@link BODY_LIMIT} bytes, and with `invalid_request` when the body
 * ends early.
 */
export function readBytes(ctx: Context): Uint8Array | Promise<Uint8Array> {
  const { req, res } = ctx;
  const length = Number(req.headers['content-length']);
  // An HTTP/1.0 client does not know interim responses (RFC 9110, section 10.1.1).
  if (req.headers.expect !== undefined && req.httpVersion !== '1.0') {
    if (length > BODY_LIMIT) throw bodyTooLarge();
    res.writeContinue();
  }
  if (length > 0 && length <= BODY_LIMIT && req.readableLength === length) {
    const body: Uint8Array = req.read(length);
    // Without this, the stream would never end, and the parser would keep the request until the next one.
    req.resume();
    return body;
  }
  return parsed(ctx);
}

async function parsed(ctx: Context): Promise<Uint8Array> {
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw (error as { status?: number }).status === 413 ? bodyTooLarge() : bodyIncomplete();
  }
  const body: unknown = ctx.request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
}
