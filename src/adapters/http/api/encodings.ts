/** Creates responses whose body is compressed with gzip when the client accepts gzip. */

import { matches } from './entity-tag.ts';
import { REVALIDATE } from './headers.ts';
import type { ApiRequest, ApiResponse, Headers } from './http.ts';

export interface EncodedResource {
  /** A hash of the content, in Base64url characters. The entity tag in `ETag` contains this hash. */
  readonly tag: string;
  /** The content, compressed with gzip. `undefined` when the compression would cost more time than it saves. */
  readonly gzip?: Uint8Array;
  /** Returns the content without compression. */
  readonly identity: () => Uint8Array;
}

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

/**
 * Responds with the content, compressed if `gzip` is present and the client accepts gzip. If the client has cached the
 * current content, responds with status 304. The compressed and the uncompressed content have different strong entity
 * tags, as RFC 9110, section 8.8.3, requires.
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
 * Returns the `Vary` field of responses that depend on a field of the request. If CORS is enabled, the value also
 * contains `Origin`.
 *
 * @param corsOrigins the allowed origins; CORS is enabled when the array is not empty
 * @param field the request header field on which the response depends
 */
export function varyOf(corsOrigins: readonly string[], field = 'Accept-Encoding'): Headers {
  return ['Vary', corsOrigins.length > 0 ? `Origin, ${field}` : field];
}
