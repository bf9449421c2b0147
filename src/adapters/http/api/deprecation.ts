/** The deprecation of `GET /v1/pets/{petId}`. */

import type { Headers } from './http.ts';

/** The path template of the deprecated operation. */
export const DEPRECATED_PATH = '/v1/pets/{petId}';

/** The time when `GET /v1/pets/{petId}` was deprecated. */
export const DEPRECATED_SINCE: Date = new Date('2025-12-05T00:00:00Z');

/** The time when `GET /v1/pets/{petId}` is due for removal. The operation keeps working until a release removes it. */
export const SUNSET: Date = new Date('2030-12-05T00:00:00Z');

/**
 * Returns the header fields of all responses from the deprecated path, except those with status 401: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`.
 * The `Link` field has two targets: an explanation (the relation `deprecation`, RFC 9745), and the path to use instead
 * (the relation `successor-version`, RFC 5829).
 *
 * @param prefix the path in front of `/docs` and `/v1` that clients use
 */
export function deprecationHeaders(prefix: string): Headers {
  return [
    'Deprecation',
    `@${DEPRECATED_SINCE.getTime() / 1000}`,
    'Sunset',
    SUNSET.toUTCString(),
    'Link',
    `<${prefix}/docs>; rel="deprecation"; type="text/html", <${prefix}/v1/pets>; rel="successor-version"`,
  ];
}

/**
 * Returns a warning for the operator if the sunset of `GET /v1/pets/{petId}` has passed, and otherwise `undefined`.
 *
 * @param now milliseconds since the Unix epoch
 */
export function sunsetNotice(now: number): string | undefined {
  if (now < SUNSET.getTime()) return undefined;
  return `GET /v1/pets/{petId} has passed its sunset on ${SUNSET.toISOString()}`;
}
