/** Refuses what HTTP forbids, and Node.js would accept or refuse with an empty body (RFC 9112, sections 3.2 and 6.1). */

import { invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, isRepeated, type Stage } from './context.ts';

export const checkHead: Stage = (ctx, next) => {
  refuseMalformed(ctx);
  return next();
};

export function refuseMalformed(ctx: Context): void {
  const { httpVersion } = ctx.req;
  if (!isFramed(ctx.req)) {
    throw invalidRequest(
      httpVersion === '1.1'
        ? 'Transfer-Encoding must be chunked'
        : `HTTP/${httpVersion} is not supported, or not with a Transfer-Encoding: expected HTTP/1.1`,
    );
  }
  const host = fieldOf(ctx, 'host');
  // A `Request` has the values of repeated fields in one.
  if (host === undefined ? httpVersion === '1.1' : isRepeated(ctx, 'host') || host.includes(',')) {
    throw invalidRequest('Host must be given once');
  }
  if ((fieldOf(ctx, 'expect') ?? '100-continue').toLowerCase() !== '100-continue') {
    throw invalidRequest('Expect must be 100-continue');
  }
}

/**
 * Whether it is unambiguous where a request ends (RFC 9112, section 6). Otherwise, a proxy and Node.js can disagree about
 * where the next request starts. In HTTP/2, frames mark the end.
 */
export function isFramed({
  httpVersion,
  headers,
  stream,
}: Pick<Context['req'], 'httpVersion' | 'headers' | 'stream'>): boolean {
  const coding = headers['transfer-encoding'];
  if (httpVersion === '1.1') return coding === undefined || String(coding).toLowerCase() === 'chunked';
  return httpVersion === '1.0' ? coding === undefined : stream !== undefined;
}
