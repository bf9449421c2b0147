/** The header fields that several responses have in common. */

import type { Headers } from './http.ts';

/** The security header fields of every response. */
export const SECURITY_HEADERS: Headers = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
];

/**
 * The header fields of every response, except for the files of the reference page (`/docs`). The content security
 * policy prevents a browser from running scripts in the response, and from showing the response in a frame.
 */
export const API_HEADERS: Headers = [
  ...SECURITY_HEADERS,
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

export const JSON_HEADERS: Headers = [...API_HEADERS, 'Content-Type', 'application/json'];

export const NO_STORE: Headers = ['Cache-Control', 'no-store'];

/** Allows a client to store a response, but requires revalidation before each use. */
export const REVALIDATE: Headers = ['Cache-Control', 'private, no-cache'];

export const VARY_ENCODING: Headers = ['Vary', 'Accept-Encoding'];

/**
 * Counts how often a request contains a header field. The `headers` object of Node.js does not show whether a field is
 * repeated, because for some fields, such as `Host`, it contains only the first value.
 *
 * @param name the field name in lower case
 */
export function countFieldLines(rawHeaders: Headers, name: string): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times;
}
