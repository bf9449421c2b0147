/** Reads the bytes of a request body with koa-bodyparser. */

import type { Context } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import { BODY_LIMIT, bodyIncomplete, bodyTooLarge } from '../api/json-body.ts';

/**
 * Reads the body as bytes, because `encoding` is `null`. If koa-bodyparser parsed the JSON, it would round large
 * integers. If koa-bodyparser decoded the text, it would replace invalid UTF-8 instead of reporting an error. The limit
 * is a number, because the text of a limit would be parsed again for each body. The cast is necessary because the type
 * `Options` lacks `encoding`, and numbers as limits.
 */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: BODY_LIMIT,
  encoding: null,
} as object as Options);

/**
 * Resolves with the body. Rejects with `payload_too_large` when the body has more than {@link BODY_LIMIT} bytes, and
 * with `invalid_request` when the body ends early.
 */
export async function readBytes(ctx: Context): Promise<Uint8Array> {
  const { headers } = ctx.req;
  if (headers.expect !== undefined) {
    if (Number(headers['content-length']) > BODY_LIMIT) throw bodyTooLarge();
    ctx.res.writeContinue();
  }
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw isTooLarge(error) ? bodyTooLarge() : bodyIncomplete();
  }
  const body: unknown = ctx.request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 413;
}
