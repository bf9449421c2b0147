/** The deprecation of `GET /v1/pets/{petId}` (specification, sections 4.3 and 9). */

import type { Headers } from './http.ts';

/** The time since which `GET /v1/pets/{petId}` is deprecated. */
export const DEPRECATED_SINCE: Date = new Date('2025-12-05T00:00:00Z');

/** The time when `GET /v1/pets/{petId}` is due for removal. The operation works until a release removes it. */
export const SUNSET: Date = new Date('2030-12-05T00:00:00Z');

/**
 * The header fields of responses to a deprecated request: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`,
 * with the link relations `deprecation` (RFC 9745) and `successor-version` (RFC 5829).
 */
export const DEPRECATION_HEADERS: Headers = [
  'Deprecation',
  `@${DEPRECATED_SINCE.getTime() / 1000}`,
  'Sunset',
  SUNSET.toUTCString(),
  'Link',
  '</docs>; rel="deprecation"; type="text/html", </v1/pets>; rel="successor-version"',
];

const DEPRECATED_TARGET = /^(?:https?:\/\/[^/]+)?\/v1\/pets\/[^/?#]+(?:[?#]|$)/;

/** Whether a request target contains the deprecated path. The request target is in origin-form or absolute-form. */
export function isDeprecated(target: string | undefined): boolean {
  return DEPRECATED_TARGET.test(target ?? '');
}

/**
 * Returns a warning for the operator when the sunset has passed, and `undefined` before the sunset. `now` is in
 * milliseconds since the Unix epoch.
 */
export function sunsetNotice(now: number): string | undefined {
  if (now < SUNSET.getTime()) return undefined;
  return `GET /v1/pets/{petId} has passed its sunset on ${SUNSET.toISOString()}`;
}
