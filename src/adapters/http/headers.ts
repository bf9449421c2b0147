/** Header fields that many answers share. */

import { randomBytes } from 'node:crypto';
import type { Headers } from './errors.ts';

/** Every answer has these. */
export const SECURITY_HEADERS: Headers = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
];

/** Every answer of the API has these: a browser that shows one can neither run nor frame anything. */
export const API_HEADERS: Headers = [
  ...SECURITY_HEADERS,
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

export const JSON_HEADERS: Headers = [...API_HEADERS, 'Content-Type', 'application/json'];

export const NO_STORE: Headers = ['Cache-Control', 'no-store'];

/** A client may keep the answer, and asks every time whether it still stands. */
export const REVALIDATE: Headers = ['Cache-Control', 'private, no-cache'];

const REQUEST_ID = /^[\w-]{1,64}$/;
const processId = randomBytes(6).toString('base64url');
let counter = 0;

/** The id that the client gave its request, when it looks like one; else one that no other request has. */
export function requestIdOf(given: string | string[] | undefined): string {
  if (typeof given === 'string' && REQUEST_ID.test(given)) return given;
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}

/** Whether `If-None-Match` names this strong entity tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
