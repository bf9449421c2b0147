/** The header fields of the OpenAPI document. */

import { DEPRECATED_SINCE, DEPRECATION_HEADERS, SUNSET } from './deprecation.ts';
import type { Part } from './openapi-schemas.ts';

/** The fields by the names that the document gives them; most are named as on the wire. */
export type HeaderName =
  | 'X-Request-Id'
  | 'Cache-Control'
  | 'ETag'
  | 'NextPage'
  | 'Location'
  | 'Deprecation'
  | 'Sunset'
  | 'Successor'
  | 'WWW-Authenticate'
  | 'Retry-After'
  | 'Accept';

/** `components.headers`. */
export const COMPONENT_HEADERS: Readonly<Record<HeaderName, Part>> = {
  'X-Request-Id': header('Names the request in the log: the id that came in, or one made for it.', {
    type: 'string',
    pattern: '^[\\w-]{1,64}$',
  }),
  'Cache-Control': header('`private, no-cache` where the answer may be kept and revalidated.', {
    type: 'string',
    enum: ['private, no-cache', 'no-store'],
  }),
  ETag: header('Strong entity tag. `If-None-Match` with it is answered 304 while the answer stands.', {
    type: 'string',
    pattern: '^"[!#-~]+"$',
  }),
  NextPage: {
    ...header('The next page, with `rel="next"`; left out on the last one (RFC 8288).', {
      type: 'string',
      pattern: '^</v1/pets\\?[^>]+>; rel="next"$',
    }),
    required: false,
  },
  Location: header('The path of the new animal.', { type: 'string', pattern: '^/v1/pets/-?\\d+$' }),
  Deprecation: header('Since when the operation is deprecated, as a Unix time (RFC 9745).', {
    type: 'string',
    const: `@${DEPRECATED_SINCE.getTime() / 1000}`,
  }),
  Sunset: header('When the operation is to be removed (RFC 8594).', {
    type: 'string',
    const: SUNSET.toUTCString(),
  }),
  Successor: header('Where the deprecation is explained, and what to use in place of the operation.', {
    type: 'string',
    const: DEPRECATION_HEADERS[DEPRECATION_HEADERS.indexOf('Link') + 1],
  }),
  'WWW-Authenticate': header('How to authenticate; with `error="invalid_token"` when a key was sent.', {
    type: 'string',
    pattern: '^Bearer realm="animal-store"(, error="invalid_token")?$',
  }),
  'Retry-After': header('Seconds to wait before the next try.', { type: 'integer', minimum: 1 }),
  Accept: header('The only media type that a body can have.', { type: 'string', const: 'application/json' }),
};

const FIELD_NAMES: Readonly<Partial<Record<HeaderName, string>>> = { NextPage: 'Link', Successor: 'Link' };

/** The fields of an answer, by their names on the wire. */
export function headersOf(...names: readonly HeaderName[]): Part {
  return Object.fromEntries(
    names.map((name) => [FIELD_NAMES[name] ?? name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The same, of an answer that may come without them. */
export function optionalHeadersOf(...names: readonly HeaderName[]): Part {
  return Object.fromEntries(
    names.map((name) => [FIELD_NAMES[name] ?? name, { ...COMPONENT_HEADERS[name], required: false }]),
  );
}

function header(description: string, schema: Part): Part {
  return { description, required: true, schema };
}
