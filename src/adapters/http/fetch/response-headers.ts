import type { Headers as Fields } from '../api/http.ts';

/** The last response with certain names of fields. */
interface Prepared {
  readonly fields: string[];
  readonly headers: Headers;
}

/**
 * Creates the `Headers` of responses. The API sends few combinations of field names, so there is one object for each of
 * them, in which only the values that differ from the previous response are set. `Response` copies the object.
 */
export class ResponseHeaders {
  readonly #prepared: Prepared[] = [];

  /** Returns an object that is valid until the next call. */
  from(fields: Fields): Headers {
    for (const prepared of this.#prepared) {
      if (hasSameNames(prepared.fields, fields)) return update(prepared, fields);
    }
    return this.#prepare(fields);
  }

  #prepare(fields: Fields): Headers {
    const headers = new Headers();
    for (let index = 0; index < fields.length; index += 2) {
      headers.append(fields[index] as string, fields[index + 1] as string);
    }
    this.#prepared.push({ fields: [...fields], headers });
    return headers;
  }
}

function hasSameNames(left: Fields, right: Fields): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 2) if (left[index] !== right[index]) return false;
  return true;
}

function update({ fields, headers }: Prepared, next: Fields): Headers {
  for (let index = 1; index < fields.length; index += 2) {
    const value = next[index] as string;
    if (value === fields[index]) continue;
    headers.set(next[index - 1] as string, value);
    fields[index] = value;
  }
  return headers;
}
