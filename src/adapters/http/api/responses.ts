/** Creates the responses that several handlers have in common. */

import { isDeprecated } from './deprecation.ts';
import { matches } from './entity-tag.ts';
import { API_HEADERS, JSON_HEADERS, NO_STORE, REVALIDATE } from './headers.ts';
import type { ApiRequest, ApiResponse, Headers, RequestHead } from './http.ts';

/** Creates a JSON response that clients and proxies must not store. */
export function jsonResponse(status: number, body: string, headers: Headers = []): ApiResponse {
  return { status, headers: [...JSON_HEADERS, ...NO_STORE, ...headers], body };
}

/** @param deprecation the additional header fields of responses from a deprecated path */
export function noContent({ url }: RequestHead, headers: Headers, deprecation: Headers): ApiResponse {
  const additional = isDeprecated(url) ? deprecation : [];
  return { status: 204, headers: [...API_HEADERS, ...NO_STORE, ...additional, ...headers], body: '' };
}

/** A JSON body with its entity tag and header fields, from which any number of responses can be created. */
export interface Representation {
  readonly body: string;
  readonly etag: string;
  /** The header fields for status 200. The last field is `Content-Type`, which status 304 omits. */
  readonly headers: Headers;
}

const REPRESENTATION_HEADERS: Headers = [...API_HEADERS, ...REVALIDATE];

export function representation(body: string, etag: string, headers: Headers): Representation {
  const fields = [...REPRESENTATION_HEADERS, 'ETag', etag, ...headers, 'Content-Type', 'application/json'];
  return { body, etag, headers: fields };
}

/**
 * Responds with status 304 when the client has the current representation, and otherwise with status 200 and the body.
 */
export function revalidated({ head }: ApiRequest, { body, etag, headers }: Representation): ApiResponse {
  if (!matches(head.headers['if-none-match'], etag)) return { status: 200, headers, body };
  return { status: 304, headers: headers.slice(0, -2), body: '' };
}
