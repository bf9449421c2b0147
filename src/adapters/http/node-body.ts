/** Reads the bodies of Node.js with koa-bodyparser. */

import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** How long a client may go on sending a body that is too large, in milliseconds. */
const LINGER_TIME = 1000;

export const readNodeBytes: ReadBytes = async (apiContext) => {
  const ctx = apiContext as Context & KoaContext;
  const { req, request, res } = ctx;
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
    if ((error as { status?: number }).status !== 413) throw bodyIncomplete();
    // Node.js closes a connection at once after its last response, and a client that is still sending could lose the
    // response. The requests that follow are ignored.
    res.shouldKeepAlive = false;
    req.resume();
    await Promise.race([finished(req).catch(() => {}), sleep(LINGER_TIME, undefined, { ref: false })]);
    throw bodyTooLarge();
  }
  // Without a body, the parser sets an empty object.
  const body: unknown = request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
};
