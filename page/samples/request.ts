/** Builds the request of an operation from the values that a reader has typed. */

import type { Schema } from '../openapi.ts';
import type { Operation } from '../reference.ts';

/** A request that the console sends and the samples show. */
export interface SampleRequest {
  /** The slug of the operation, such as `list-pets`. */
  readonly operation: string;
  readonly baseUrl: string;
  /** The names of the parameters in the path. */
  readonly pathParameters: readonly string[];
  /** The parameters that are given. An int64 is a `bigint`. A text that is not a valid integer stays a `string`. */
  readonly parameters: Readonly<Record<string, string | number | bigint | boolean>>;
  readonly method: string;
  readonly url: string;
  /** The header fields, except `Authorization`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  /** `Idempotency-Key`, if the operation has this field and the reader has typed no key: a sample then sends a new key. */
  readonly newKeyField?: string;
}

/** The header field that makes a write safe to retry. */
export const KEY_FIELD = 'Idempotency-Key';

/** The header field that names the version that a pet must have to be changed. */
export const TAG_FIELD = 'If-Match';

/** A placeholder for the value of `If-Match` until the reader or the console has filled in a tag. It matches no pet. */
const NO_TAG = '"ETag-of-the-last-response"';

export interface SampleOptions {
  /** The API key to write into the sample. Without a key, the sample reads the environment variable `ANIMAL_STORE_KEY`. */
  readonly key?: string | undefined;
  /** The schema of the body of the response; `undefined` if the response has no body. */
  readonly response?: Schema | undefined;
}

/** The values of the parameters and of the body, as text. An empty parameter is not sent. Spaces around a parameter are removed. */
export interface Values {
  readonly parameters: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Builds a request. The URL and the body contain the values as text, so integers stay exact. */
export function requestOf(
  operation: Operation,
  { parameters, body }: Values,
  baseUrl: string,
): SampleRequest {
  const all = operation.parameters
    .map(({ name, in: place, schema }) => ({
      name,
      place,
      schema,
      value: (parameters.get(name) ?? '').trim(),
    }))
    .filter(({ value }) => value !== '');
  const given = (place: string) =>
    all.filter((parameter) => parameter.place === place).map(({ name, value }) => [name, value] as const);
  const path = given('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(value)),
    operation.path,
  );
  const query = new URLSearchParams(given('query').map(([name, value]) => [name, value])).toString();
  const hasBody = operation.body !== undefined;
  const lacks = (field: string) =>
    operation.parameters.some(({ name }) => name === field) && all.every(({ name }) => name !== field);
  return {
    operation: operation.slug,
    baseUrl,
    pathParameters: operation.parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name),
    parameters: Object.fromEntries(all.map(({ name, schema, value }) => [name, typedValue(value, schema)])),
    method: operation.method,
    url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...(operation.body === undefined ? [] : [['Content-Type', operation.body.type] as const]),
      ...(lacks(TAG_FIELD) ? [[TAG_FIELD, NO_TAG] as const] : []),
      ...given('header'),
    ],
    ...(hasBody && { body }),
    ...(lacks(KEY_FIELD) && { newKeyField: KEY_FIELD }),
  };
}

function typedValue(text: string, { type, format }: Schema): string | number | bigint | boolean {
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (type !== 'integer' || !/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  return format === 'int64' || !Number.isSafeInteger(number) ? BigInt(text) : number;
}

/** Returns the query parameters of the next page, or `undefined` when `Link` (RFC 8288) has no next page. */
export function nextPage(link: string | null): URLSearchParams | undefined {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(link ?? '')?.[1];
  return target === undefined ? undefined : new URL(target, 'http://localhost').searchParams;
}
