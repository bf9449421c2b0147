/** Refuses what HTTP forbids, and Node.js would accept or refuse with an empty body (RFC 9112, sections 3.2 and 6.1). */

import { invalidRequest } from '../../domain/errors.ts';
import { type Context, fieldOf, isRepeated, type Stage } from './context.ts';

/** A host name or an IP address, optionally with a port, and without user name (RFC 3986, section 3.2). */
const AUTHORITY = /^(?:[\w.-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

/** A request target in absolute-form (RFC 9112, section 3.2.2). */
const WEB_URL = /^https?:\/\/([^/?]+)/i;

const HOST_RULE = 'Host must be a host name or an IP address, optionally with a port';
const TARGET_RULE =
  'the request target must be a path or an http or https URL, without user name and fragment';

export const checkHead: Stage = (ctx, next) => {
  refuseMalformed(ctx);
  return next();
};

export function refuseMalformed(ctx: Context): void {
  const { httpVersion } = ctx.req;
  const host = fieldOf(ctx, 'host');
  const expect = fieldOf(ctx, 'expect');
  if (!isFramed(ctx.req)) throw invalidRequest(framingRule(httpVersion));
  if (host === undefined ? httpVersion === '1.1' : isRepeated(ctx, 'host')) {
    throw invalidRequest('Host must be given once');
  }
  if (host && !AUTHORITY.test(host)) throw invalidRequest(HOST_RULE);
  if (!isTarget(ctx.url)) throw invalidRequest(TARGET_RULE);
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
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
}: Pick<Context['req'], 'httpVersion' | 'stream' | 'headers'>): boolean {
  const coding = headers['transfer-encoding'];
  if (httpVersion === '1.1') return coding === undefined || String(coding).toLowerCase() === 'chunked';
  return httpVersion === '1.0' ? coding === undefined : stream !== undefined;
}

function framingRule(httpVersion: string): string {
  if (httpVersion === '1.1') return 'Transfer-Encoding must be chunked';
  if (httpVersion === '1.0') return 'Transfer-Encoding is not supported in HTTP/1.0';
  return `HTTP/${httpVersion} is not supported: expected HTTP/1.0 or HTTP/1.1`;
}

function isTarget(target: string): boolean {
  if (target.includes('#')) return false;
  if (target.startsWith('/') || target === '*') return true;
  const authority = WEB_URL.exec(target)?.[1];
  return authority !== undefined && AUTHORITY.test(authority);
}
