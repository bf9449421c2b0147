/** The header fields in the OpenAPI document, and the responses that have them. */

import { METHODS, type Operation } from '../src/adapters/http/operations.ts';
import { DEPRECATION, DEPRECATION_FIELDS, DEPRECATION_NAMES } from './lifecycle.ts';
import type { Part } from './schemas.ts';

/** Descriptions of header fields. A key is an HTTP field name, or a key of {@link FIELD_NAMES}. */
const FIELDS = {
  'X-Request-Id': field('Identifies the request in the log: the id that the client sent, or a new one.', {
    pattern: '^[\\w-]{1,36}$',
  }),
  'Cache-Control': field('`private, no-cache` for a response that a client may store and revalidate.', {
    enum: ['private, no-cache', 'no-store'],
  }),
  ETag: field(
    'Strong entity tag. A request with it in `If-None-Match` gets 304 while the representation is current.',
    { pattern: '^"[!#-~]+"$' },
  ),
  NextPage: optionalField('The next page, with `rel="next"` (RFC 8288). The last page has no such link.', {
    pattern: '^<[^>?]*/v1/pets\\?[^>]+>; rel="next"$',
  }),
  Location: field('The path of the new pet.', { pattern: '^[^?#]*/v1/pets/-?\\d+$' }),
  'Idempotency-Replayed': optionalField(
    'An earlier request with the same `Idempotency-Key` created this pet.',
    { const: 'true' },
  ),
  ...DEPRECATION_FIELDS,
  'WWW-Authenticate': field(
    'How to authenticate; with `error="invalid_token"` when a key was sent, and `error="insufficient_scope"` for a read-only key.',
    {
      pattern: '^Bearer realm="animal-store"(, error="(invalid_token|insufficient_scope)")?$',
    },
  ),
  'Retry-After': field('Seconds to wait before the next attempt.', { type: 'integer', minimum: 1 }),
  Accept: field('The only supported media type of a body.', { const: 'application/json' }),
};

/** `NextChanges`, `PetTag` and `Replayed` describe the fields `Link`, `ETag` and `Idempotency-Replayed`. */
const CHANGE_FIELDS = {
  NextChanges: optionalField('The next page, with `rel="next"` (RFC 8288), while more changes follow.', {
    pattern: '^<[^>?]*/v1/changes\\?[^>]+>; rel="next"$',
  }),
  PetTag: field('Strong entity tag of the pet. A change with it in `If-Match` is for this version.', {
    pattern: '^"[!#-~]+"$',
  }),
  Replayed: optionalField('An earlier request with the same `Idempotency-Key` got this response.', {
    const: 'true',
  }),
  'Accept-Patch': field('The supported media types of a body (RFC 5789).', {
    const: 'application/merge-patch+json, application/json',
  }),
};

const ALL_FIELDS = { ...FIELDS, ...CHANGE_FIELDS };
const FIELD_NAMES: Partial<Record<Name, string>> = {
  NextPage: 'Link',
  NextChanges: 'Link',
  ...DEPRECATION_NAMES,
  Replayed: 'Idempotency-Replayed',
  PetTag: 'ETag',
};

type Name = keyof typeof ALL_FIELDS;

/** Returns the value of `components.headers` in the OpenAPI document. */
export function componentHeaders(hasChanges: boolean): Readonly<Record<string, Part>> {
  return hasChanges ? ALL_FIELDS : FIELDS;
}

const EVERY_RESPONSE: readonly Name[] = ['X-Request-Id', 'Cache-Control'];

const OF_ERROR: Readonly<Record<number, readonly Name[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  415: ['Accept'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/**
 * The statuses of errors that the server can detect before it knows the path of the request. A response with such a status can lack
 * the header fields that depend on the path.
 */
const BEFORE_ROUTING: readonly number[] = [400, 408, 431];

/** Describes the header fields of a response. The keys of the result are HTTP field names. */
export function headersOf(operation: Operation, status: number): Part {
  const { method, success } = operation;
  const ofSuccess: readonly Name[] = [
    ...(METHODS[method].isRead ? ['ETag' as const] : []),
    ...(success.fields ?? []),
  ];
  const ofError = method === 'PATCH' && status === 415 ? (['Accept-Patch'] as const) : OF_ERROR[status];
  const own = status < 400 ? ofSuccess : (ofError ?? []);
  return {
    ...fieldsOf([...EVERY_RESPONSE, ...own]),
    ...(operation.deprecated && status !== 401 && fieldsOf(DEPRECATION, BEFORE_ROUTING.includes(status))),
  };
}

function fieldsOf(names: readonly Name[], areOptional = false): Part {
  return Object.fromEntries(
    names.map((name) => [
      FIELD_NAMES[name] ?? name,
      areOptional ? { ...ALL_FIELDS[name], required: false } : { $ref: `#/components/headers/${name}` },
    ]),
  );
}

/** Describes a header field. Its type is `string`, unless the schema has another one. */
function field(description: string, schema: Part): Part {
  return { description, required: true, schema: { type: 'string', ...schema } };
}

function optionalField(description: string, schema: Part): Part {
  return { ...field(description, schema), required: false };
}
