/** `GET /v1/pets/{petId}` is on its way out (specification, sections 4.3 and 9). */

import type { Headers } from './errors.ts';

/** When the operation was deprecated. */
export const DEPRECATED_SINCE: Date = new Date('2025-12-05T00:00:00Z');

/** When it is to be removed. It goes on working until a release does so. */
export const SUNSET: Date = new Date('2030-12-05T00:00:00Z');

/** RFC 9745, RFC 8594, and the link relations of both and of RFC 5829. */
export const DEPRECATION_HEADERS: Headers = [
  'Deprecation',
  `@${DEPRECATED_SINCE.getTime() / 1000}`,
  'Sunset',
  SUNSET.toUTCString(),
  'Link',
  '</docs>; rel="deprecation"; type="text/html", </v1/pets>; rel="successor-version"',
];

const DEPRECATED_TARGET = /^(?:https?:\/\/[^/]+)?\/v1\/pets\/[^/?#]+(?:[?#]|$)/;

/** Whether a request's target is the deprecated path, in origin-form or absolute-form. */
export function isDeprecated(target: string | undefined): boolean {
  return DEPRECATED_TARGET.test(target ?? '');
}
