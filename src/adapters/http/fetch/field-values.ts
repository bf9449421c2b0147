import type { RequestFields } from '../api/context.ts';

/** The fields that the API reads. */
const REQUEST_FIELDS = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'content-encoding',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'traceparent',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-request-id',
];

class FieldValues {
  readonly [name: string]: string | undefined;
  readonly #fields: Headers;
  readonly #url: string;

  constructor(fields: Headers, url: string) {
    this.#fields = fields;
    this.#url = url;
  }

  // A field is looked up when the API reads it, because it reads few of the fields that a browser sends.
  static {
    for (const name of REQUEST_FIELDS) {
      Object.defineProperty(FieldValues.prototype, name, {
        get(this: FieldValues): string | undefined {
          return this.#fields.get(name) ?? (name === 'host' ? authorityOf(this.#url) : undefined);
        },
      });
    }
  }
}

export function fieldValues(fields: Headers, url: string): RequestFields {
  return new FieldValues(fields, url);
}

/** Over HTTP/2, the host and the port are in no field. */
function authorityOf(url: string): string | undefined {
  return url.split('/', 3)[2];
}
