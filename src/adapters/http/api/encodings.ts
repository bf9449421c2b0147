/** Responds with a resource in one of several content codings. */

import { matches } from './entity-tag.ts';
import { REVALIDATE } from './headers.ts';
import type { ApiRequest, ApiResponse, Headers } from './http.ts';

export interface EncodedResource {
  /** Identifies the content, in Base64url characters. The entity tags are derived from this tag. */
  readonly tag: string;
  /** The content in gzip. Missing when compression would cost more time than it saves. */
  readonly gzip?: Uint8Array;
  /** Returns the content without compression. */
  readonly identity: () => Uint8Array;
}

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

/**
 * Responds with the content, in gzip if `gzip` is present and the client accepts gzip. If the client has cached the
 * current content, the status is 304. Each content coding has its own strong entity tag (RFC 9110, section 8.8.3).
 */
export function encodedResponse(
  { head }: ApiRequest,
  { tag, gzip, identity }: EncodedResource,
  type: string,
  headers: Headers,
): ApiResponse {
  const isGzip = gzip !== undefined && ACCEPTS_GZIP.test(String(head.headers['accept-encoding'] ?? ''));
  const etag = isGzip ? `"${tag}-gzip"` : `"${tag}"`;
  const fields = [...headers, ...REVALIDATE, 'ETag', etag];
  if (matches(head.headers['if-none-match'], etag)) return { status: 304, headers: fields, body: '' };
  fields.push('Content-Type', type);
  if (!isGzip) return { status: 200, headers: fields, body: identity() };
  return { status: 200, headers: [...fields, 'Content-Encoding', 'gzip'], body: gzip };
}

/**
 * Returns the `Vary` field of a resource with several content codings. If CORS is enabled, `Vary` contains `Origin`.
 */
export function varyOf(corsOrigins: readonly string[]): Headers {
  return ['Vary', corsOrigins.length > 0 ? 'Origin, Accept-Encoding' : 'Accept-Encoding'];
}
