/** The carrier over which the tests of the API run. The vitest project `fetch` runs them over the fetch handler. */
export const CARRIER = (process.env['TEST_CARRIER'] ?? 'koa') as 'koa' | 'stock-koa' | 'fetch';

/** What a `Request` cannot express, because it has no request line and its URL is normalised: docs/mounting.md. */
const INEXPRESSIBLE = [
  'the method TRACE',
  'the target *',
  'a path with the segments . and ..',
  'a target that is not a URL',
  'the version of HTTP',
  'a missing Host',
  'how often a field is repeated',
] as const;

type Inexpressible = (typeof INEXPRESSIBLE)[number];

/** Returns whether the tests run over a carrier whose requests cannot express something, which is then not tested. */
export function cannotExpress(what: Inexpressible): boolean {
  return CARRIER === 'fetch' && INEXPRESSIBLE.includes(what);
}
