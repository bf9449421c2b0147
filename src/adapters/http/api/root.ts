import Negotiator from 'negotiator';
import { noSuchPath } from './errors.ts';
import type { Handler } from './exchange.ts';
import { API_HEADERS, NO_STORE } from './headers.ts';
import type { Headers } from './http.ts';

const VARY_ACCEPT: Headers = ['Vary', 'Accept'];

/** The first one is for clients without a preference. */
const MEDIA_TYPES = ['application/json', 'text/html'];

/** Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`. */
export function root(prefix: string): Handler {
  const redirect = {
    status: 303,
    headers: [...API_HEADERS, ...NO_STORE, ...VARY_ACCEPT, 'Location', `${prefix}/docs`],
    body: '',
  };
  return ({ head: { method, headers } }) => {
    if (method !== 'GET' && method !== 'HEAD') throw noSuchPath();
    const { accept } = headers;
    const preferred = new Negotiator({ headers: { accept } }).mediaType(MEDIA_TYPES);
    if (preferred !== 'text/html') throw noSuchPath(VARY_ACCEPT);
    return redirect;
  };
}
