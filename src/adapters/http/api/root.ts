/** The path `/`, which belongs to no resource. */

import { varyOf } from './encodings.ts';
import { noSuchPath } from './errors.ts';
import { API_HEADERS, NO_STORE } from './headers.ts';
import type { Handler } from './http.ts';
import type { HttpOptions } from './options.ts';
import { pathPrefixOf } from './public-url.ts';

/** Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`. */
export function root({ corsOrigins = [], publicUrl }: HttpOptions): Handler {
  const vary = varyOf(corsOrigins, 'Accept');
  const redirect = {
    status: 303,
    headers: [...API_HEADERS, ...NO_STORE, ...vary, 'Location', `${pathPrefixOf(publicUrl)}/docs`],
    body: '',
  };
  return (request) => {
    const { method } = request.head;
    if (method !== 'GET' && method !== 'HEAD') throw noSuchPath();
    if (request.preferredType('application/json', 'text/html') !== 'text/html') throw noSuchPath(vary);
    return redirect;
  };
}
