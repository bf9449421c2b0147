import { hash } from 'node:crypto';
import { API_HEADERS, JSON_HEADERS, NO_STORE, REVALIDATE } from './headers.ts';
import type { ApiResponse, Headers, RequestHead } from './http.ts';
import { includesWeakly } from './preconditions.ts';

export function jsonResponse(status: number, body: string, headers: Headers = []): ApiResponse {
  return { status, headers: [...JSON_HEADERS, ...NO_STORE, ...headers], body };
}

export function noContent(headers: Headers = []): ApiResponse {
  return { status: 204, headers: [...API_HEADERS, ...NO_STORE, ...headers], body: '' };
}

/** A body with its entity tag and header fields, from which any number of responses can be created. */
export interface Representation {
  readonly body: string | Uint8Array;
  readonly etag: string;
  /** The header fields for status 200. Status 304 omits those from `Content-Type` on, which describe the body. */
  readonly headers: Headers;
}

/** @param contentHeaders the header fields, besides the type, that describe the body */
export function representation(
  body: string | Uint8Array,
  etag: string,
  headers: Headers = API_HEADERS,
  type = 'application/json',
  contentHeaders: Headers = [],
): Representation {
  const fields = [...headers, ...REVALIDATE, 'ETag', etag, 'Content-Type', type, ...contentHeaders];
  return { body, etag, headers: fields };
}

export function entityTag(content: string | Uint8Array): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** Responds with status 304 when the client has the current representation, and otherwise with the body. */
export function revalidated(head: RequestHead, { body, etag, headers }: Representation): ApiResponse {
  const field = head.headers['if-none-match'];
  if (field === undefined || !includesWeakly(field, etag)) return { status: 200, headers, body };
  return { status: 304, headers: headers.slice(0, headers.indexOf('Content-Type')), body: '' };
}
