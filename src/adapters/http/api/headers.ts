import type { Headers } from './http.ts';

export const SECURITY_HEADERS: Headers = [
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
];

/** The header fields of every response, except for the files of the reference page (`/docs`). */
export const API_HEADERS: Headers = [
  ...SECURITY_HEADERS,
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
];

export const JSON_HEADERS: Headers = [...API_HEADERS, 'Content-Type', 'application/json'];

export const NO_STORE: Headers = ['Cache-Control', 'no-store'];

export const REVALIDATE: Headers = ['Cache-Control', 'private, no-cache'];

export const VARY_ENCODING: Headers = ['Vary', 'Accept-Encoding'];

/** Counts the lines of a field, whose name is in lower case. `headers` can have only the first value, as of `Host`. */
export function countFieldLines(rawHeaders: Headers, name: string): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    if (given.length === name.length && given.toLowerCase() === name) times += 1;
  }
  return times;
}
