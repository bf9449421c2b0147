/** The header fields in the OpenAPI document. */

import { DEPRECATED_SINCE, SUNSET } from '../api/deprecation.ts';
import type { Part } from './schemas.ts';

/**
 * The keys of {@link COMPONENT_HEADERS}. `NextPage` and `Successor` are two descriptions of the field `Link`. The other
 * keys are HTTP field names.
 */
export type HeaderName =
  | 'X-Request-Id'
  | 'Cache-Control'
  | 'ETag'
  | 'NextPage'
  | 'Location'
  | 'Idempotency-Replayed'
  | 'Deprecation'
  | 'Sunset'
  | 'Successor'
  | 'WWW-Authenticate'
  | 'Retry-After'
  | 'Accept';

/** The value of `components.headers` in the OpenAPI document. */
export const COMPONENT_HEADERS: Readonly<Record<HeaderName, Part>> = {
  'X-Request-Id': header('Identifies the request in the log: the id that the client sent, or a new one.', {
    type: 'string',
    pattern: '^[\\w-]{1,36}$',
  }),
  'Cache-Control': header('`private, no-cache` for a response that a client may store and revalidate.', {
    type: 'string',
    enum: ['private, no-cache', 'no-store'],
  }),
  ETag: header(
    'Strong entity tag. A request with it in `If-None-Match` gets 304 while the representation is current.',
    {
      type: 'string',
      pattern: '^"[!#-~]+"$',
    },
  ),
  NextPage: {
    ...header('The next page, with `rel="next"` (RFC 8288). The last page has no such link.', {
      type: 'string',
      pattern: '^<[^>?]*/v1/pets\\?[^>]+>; rel="next"$',
    }),
    required: false,
  },
  Location: header('The path of the new pet.', { type: 'string', pattern: '^[^?#]*/v1/pets/-?\\d+$' }),
  'Idempotency-Replayed': {
    ...header('An earlier request with the same `Idempotency-Key` created this pet.', {
      type: 'string',
      const: 'true',
    }),
    required: false,
  },
  Deprecation: header('The time of deprecation as a Unix timestamp (RFC 9745).', {
    type: 'string',
    const: `@${DEPRECATED_SINCE.getTime() / 1000}`,
  }),
  Sunset: header('The time when the operation is due for removal (RFC 8594).', {
    type: 'string',
    const: SUNSET.toUTCString(),
  }),
  Successor: header('Links to the explanation of the deprecation, and to the operation to use instead.', {
    type: 'string',
    pattern:
      '^<[^>?]*/docs>; rel="deprecation"; type="text/html", <[^>?]*/v1/pets>; rel="successor-version"$',
  }),
  'WWW-Authenticate': header('How to authenticate; with `error="invalid_token"` when a key was sent.', {
    type: 'string',
    pattern: '^Bearer realm="animal-store"(, error="invalid_token")?$',
  }),
  'Retry-After': header('Seconds to wait before the next attempt.', { type: 'integer', minimum: 1 }),
  Accept: header('The only supported media type of a body.', { type: 'string', const: 'application/json' }),
};

const FIELD_NAMES: Readonly<Partial<Record<HeaderName, string>>> = { NextPage: 'Link', Successor: 'Link' };

/** Returns references to the descriptions of header fields. The keys of the result are HTTP field names. */
export function headersOf(...names: readonly HeaderName[]): Part {
  return Object.fromEntries(
    names.map((name) => [FIELD_NAMES[name] ?? name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Returns descriptions of header fields that a response can lack. The keys of the result are HTTP field names. */
export function optionalHeadersOf(...names: readonly HeaderName[]): Part {
  return Object.fromEntries(
    names.map((name) => [FIELD_NAMES[name] ?? name, { ...COMPONENT_HEADERS[name], required: false }]),
  );
}

function header(description: string, schema: Part): Part {
  return { description, required: true, schema };
}
