/** Header fields that many answers share. */

import { randomBytes } from 'node:crypto';
import { containsApiKey } from '../../domain/api-key.ts';
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

/** How many characters of a key must not be shown. */
const PART_OF_KEY = 16;

const processId = randomBytes(6).toString('base64url');
let counter = 0;

/**
 * The id that the client gave its request, or a new one when there is none or it has another form. An id is logged and
 * sent back, so nothing that may be a key is accepted as one.
 */
export function requestIdOf(given: string | string[] | undefined, authorization = ''): string {
  if (typeof given === 'string' && REQUEST_ID.test(given) && !mayHoldKey(given, authorization)) return given;
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}

/** An operator's key can have any shape, but the request that brings it shows it. */
function mayHoldKey(id: string, authorization: string): boolean {
  if (id.length < PART_OF_KEY) return false;
  const key = authorization.slice(authorization.lastIndexOf(' ') + 1);
  if (key.includes(id) || (key.length >= PART_OF_KEY && id.includes(key))) return true;
  return containsApiKey(id);
}

/** Whether `If-None-Match` names this strong entity tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
