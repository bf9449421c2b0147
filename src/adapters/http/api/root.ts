/** The path `/`, which belongs to no resource. */

import { prefersHtml } from './accept.ts';
import { noSuchPath } from './errors.ts';
import type { Handler } from './exchange.ts';
import { API_HEADERS, NO_STORE } from './headers.ts';
import type { Headers } from './http.ts';

const VARY_ACCEPT: Headers = ['Vary', 'Accept'];

/**
 * Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`.
 *
 * @param prefix the path in front of `/docs` that clients use
 */
export function root(prefix: string): Handler {
  const redirect = {
    status: 303,
    headers: [...API_HEADERS, ...NO_STORE, ...VARY_ACCEPT, 'Location', `${prefix}/docs`],
    body: '',
  };
  return ({ head: { method, headers } }) => {
    if (method !== 'GET' && method !== 'HEAD') throw noSuchPath();
    if (!prefersHtml(headers.accept)) throw noSuchPath(VARY_ACCEPT);
    return redirect;
  };
}
