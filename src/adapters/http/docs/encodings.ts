import { VARY_ENCODING } from '../api/headers.ts';
import type { ApiResponse, Headers, RequestHead } from '../api/http.ts';
import { type Representation, representation, revalidated } from '../api/responses.ts';

export interface Encodings {
  readonly identity: Representation;
  readonly gzip: Representation | undefined;
}

const GZIP = /^\s*(?:x-)?gzip\s*$/i;
const NOT_ACCEPTED = /^\s*q=0(?:\.0*)?\s*$/i;

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
  return revalidated(head, (acceptsGzip(head.headers['accept-encoding']) && gzip) || identity);
}

function acceptsGzip(field = ''): boolean {
  return field.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';');
    return GZIP.test(name) && !parameters.some((parameter) => NOT_ACCEPTED.test(parameter));
  });
}
