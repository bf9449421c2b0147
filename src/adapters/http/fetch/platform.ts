/** What differs between the platforms, where the Web standards leave it open. */

/**
 * Whether requests can wait for each other. The Workers of Cloudflare handle each request in a context of its own, and end its
 * timers with the response, so that no request may wait for a turn that another request has begun.
 */
export const HAS_TURNS: boolean = globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

/**
 * Whether the signal of a request shows that the client has disconnected. On Deno, a signal that was read aborts after each
 * response too, prints a warning about this, and learns nothing of what happened before it was read.
 */
export const HAS_SIGNAL: boolean = !('Deno' in globalThis);
