import type { Context } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import { BODY_LIMIT, bodyIncomplete, bodyTooLarge } from '../api/json-body.ts';

/**
 * Reads the body as bytes: koa-bodyparser would round large integers in JSON, and replace invalid UTF-8 in text. The cast
 * is necessary because the type `Options` lacks `encoding`.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

/** Reads the whole body, as `CarriedRequest.readBody` describes. Most bodies arrive together with the head. */
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
