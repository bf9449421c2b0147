/** Refuses what HTTP forbids and Node.js would accept, or refuse with an empty body (RFC 9112, sections 3.2 and 6.1). */

import { invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, isRepeated, type Stage } from './context.ts';

export const checkHead: Stage = (ctx, next) => {
  const { httpVersion } = ctx.req;
  if (httpVersion === '0.9') throw invalidRequest('the version is missing: expected HTTP/1.0 or HTTP/1.1');
  const isHttp11 = httpVersion === '1.1';
  if (!isFramed(ctx.req)) {
    throw invalidRequest(isHttp11 ? 'Transfer-Encoding must be chunked' : 'Transfer-Encoding needs HTTP/1.1');
  }
  const host = fieldOf(ctx, 'host');
  // A `Request` has the values of repeated fields in one.
  if (host === undefined ? isHttp11 : isRepeated(ctx, 'host') || host.includes(',')) {
    throw invalidRequest('Host must be given once');
  }
  return next();
};

/**
 * Whether it is unambiguous where a request ends (RFC 9112, section 6). Otherwise, a proxy and Node.js can disagree about
 * where the next request starts.
 */
export function isFramed({ httpVersion, headers }: Pick<Context['req'], 'httpVersion' | 'headers'>): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (httpVersion === '1.1' && String(coding).toLowerCase() === 'chunked');
}
