import Negotiator from 'negotiator';
import type { Stage } from './context.ts';
import { noSuchPath } from './errors.ts';

/** The first one is for clients without a preference. */
const MEDIA_TYPES = ['application/json', 'text/html'];

/** Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`. */
export function root(prefix: string): Stage {
  return (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw noSuchPath();
    ctx.vary('Accept');
    const headers = { accept: ctx.headers['accept'] as string | undefined };
    if (new Negotiator({ headers }).mediaType(MEDIA_TYPES) !== 'text/html') throw noSuchPath();
    ctx.status = 303;
    ctx.set('Location', `${prefix}/docs`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    ctx.remove('Content-Type');
  };
}
