import { VARY_ENCODING } from '../api/headers.ts';
import type { ApiResponse, Headers, RequestHead } from '../api/http.ts';
import { type Representation, representation, revalidated } from '../api/responses.ts';

export interface Encodings {
  readonly identity: Representation;
  readonly gzip: Representation | undefined;
}

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

/** @param etag the entity tag of the content */
export function encodings(
  identity: Uint8Array,
  gzip: Uint8Array | undefined,
  etag: string,
  headers: Headers,
  type: string,
): Encodings {
  const all = [...headers, ...VARY_ENCODING];
  return {
    identity: representation(identity, etag, all, type),
    // The codings have different strong entity tags, as RFC 9110, section 8.8.3, requires.
    gzip: gzip && representation(gzip, etag.replace(/"$/, '-gzip"'), all, type, ['Content-Encoding', 'gzip']),
  };
}

export function negotiated(head: RequestHead, { identity, gzip }: Encodings): ApiResponse {
  const acceptsGzip = ACCEPTS_GZIP.test(head.headers['accept-encoding'] ?? '');
  return revalidated(head, (acceptsGzip && gzip) || identity);
}
