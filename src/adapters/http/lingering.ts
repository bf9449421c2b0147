/** Node.js closes a connection at once after its last response, and a client that is still sending could lose the response. */

import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context.ts';

/** How long a client may go on sending after the response, in milliseconds. */
const LINGER_TIME = 1000;

/** Sets the last body of a connection. The response ends when the rest of the request was received, and discarded. */
export function setLastBody(ctx: Context, body: string): void {
  const { req } = ctx;
  ctx.body = req instanceof Readable && !req.readableEnded ? Readable.from(lingering(body, req)) : body;
  ctx.set('Content-Length', String(Buffer.byteLength(body)));
}

async function* lingering(body: string, req: Readable): AsyncGenerator<string> {
  yield body;
  req.resume();
  await Promise.race([finished(req).catch(() => {}), sleep(LINGER_TIME, undefined, { ref: false })]);
}
