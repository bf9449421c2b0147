import { SERVER_METHODS } from './errors.ts';
import type { RequestHead } from './http.ts';

const EXPOSED_HEADERS =
  'Deprecation,ETag,Idempotency-Replayed,Link,Location,Retry-After,Sunset,WWW-Authenticate,X-Request-Id';

/** Whether a text is an origin as browsers send it. A pattern such as `https://*.example.org` equals no origin. */
export function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;
}

/** How long a browser may cache the response to a preflight request, in seconds. */
const MAX_AGE = '600';

/**
 * Lets scripts of other origins call the API in a browser (Fetch Standard, section 3.3). Without origins, no response has
 * a CORS header field.
 */
export class Cors {
  readonly #origins: readonly string[];

  constructor(origins: readonly string[] = []) {
    this.#origins = origins;
  }

  /** Whether a request of an allowed origin is a preflight request, which contains no API key. */
  isPreflight({ method, headers }: RequestHead): boolean {
    return (
      method === 'OPTIONS' &&
      this.#allows(headers.origin) &&
      Boolean(headers['access-control-request-method'])
    );
  }

  addFields(fields: string[], head: RequestHead): void {
    if (this.#origins.length === 0) return;
    const { origin, 'access-control-request-headers': requested } = head.headers;
    // A value can be the name of a field: the client chooses its `X-Request-Id`.
    const vary = fields.findIndex((text, index) => index % 2 === 0 && text === 'Vary');
    if (vary === -1) fields.push('Vary', 'Origin');
    else fields[vary + 1] = `Origin, ${fields[vary + 1]}`;
    if (!this.#allows(origin) || (head.method === 'OPTIONS' && !this.isPreflight(head))) return;
    fields.push('Access-Control-Allow-Origin', origin);
    if (head.method !== 'OPTIONS') {
      fields.push('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return;
    }
    fields.push('Access-Control-Max-Age', MAX_AGE, 'Access-Control-Allow-Methods', SERVER_METHODS.join(','));
    if (requested) fields.push('Access-Control-Allow-Headers', requested);
  }

  #allows(origin: string | undefined): origin is string {
    return origin !== undefined && this.#origins.includes(origin);
  }
}
