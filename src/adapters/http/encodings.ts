/** A resource that is sent compressed to the clients that take it so, and revalidated in either form. */

import type { Context } from 'koa';
import { send } from './answer.ts';
import type { Headers } from './errors.ts';
import { matches, REVALIDATE } from './headers.ts';

/** The bytes of a resource in each content coding. */
export interface Encodings {
  /** Differs between contents, and is made of the characters of Base64url. */
  readonly tag: string;
  /** Left out where compressing is not worth the time. */
  readonly gzip?: Buffer;
  readonly identity: () => Buffer;
}

const TAKES_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

/** A strong entity tag belongs to one coding (RFC 9110, section 8.8.3). */
export function sendEncoded(ctx: Context, headers: Headers, type: string, encodings: Encodings): void {
  const { tag, gzip, identity } = encodings;
  const isGzip = gzip !== undefined && TAKES_GZIP.test(ctx.req.headers['accept-encoding'] ?? '');
  const etag = isGzip ? `"${tag}-gzip"` : `"${tag}"`;
  const fields = [...headers, ...REVALIDATE, 'Vary', varyOf(ctx), 'ETag', etag];
  if (matches(ctx.req.headers['if-none-match'], etag)) send(ctx, 304, fields);
  else if (isGzip) send(ctx, 200, [...fields, 'Content-Type', type, 'Content-Encoding', 'gzip'], gzip);
  else send(ctx, 200, [...fields, 'Content-Type', type], identity());
}

/** With `Origin` where CORS has set it, because the fields that are given to `writeHead` replace those set before. */
function varyOf({ res }: Context): string {
  const vary = res.getHeader('Vary');
  return vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
}
