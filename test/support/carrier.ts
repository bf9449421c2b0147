/**
 * The carrier over which the tests of the API run. The vitest project `fetch` runs them over the fetch handler. What its requests
 * cannot express is then not tested, because a `Request` has no request line and its URL is normalised: docs/mounting.md.
 */
export const CARRIER = (process.env['TEST_CARRIER'] ?? 'koa') as 'koa' | 'stock-koa' | 'fetch';
