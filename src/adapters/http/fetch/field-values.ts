import { REQUEST_FIELDS, type RequestFields } from '../api/http.ts';

class FieldValues {
  readonly fields: Headers;
  readonly url: string;

  constructor(fields: Headers, url: string) {
    this.fields = fields;
    this.url = url;
  }
}

// A field is looked up when the API reads it, because it reads few of the fields that a browser sends.
for (const name of REQUEST_FIELDS) {
  Object.defineProperty(FieldValues.prototype, name, {
    get(this: FieldValues): string | undefined {
      return this.fields.get(name) ?? (name === 'host' ? authorityOf(this.url) : undefined);
    },
  });
}

export function fieldValues(fields: Headers, url: string): RequestFields {
  return new FieldValues(fields, url) as RequestFields;
}

/** Over HTTP/2, the host and the port are in no field. */
function authorityOf(url: string): string | undefined {
  return url.split('/', 3)[2];
}
