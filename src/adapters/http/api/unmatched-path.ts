/** The words of the paths of the API. Any other segment of a path could be a secret, in whatever encoding. */
const KNOWN = new Set('v1 pets store orders docs openapi.json livez readyz metrics'.split(' '));

const SEGMENTS_LIMIT = 3;

const SCHEME_AND_AUTHORITY = /^[a-z][\w+.-]*:\/\/[^/?#]*/i;

/**
 * Describes the path of a request that matches no route, for a log: the known segments at its start, and the length of the
 * path if there is more (`/v1/… (24 characters)`). Returns `undefined` if the target has no path.
 */
export function unmatchedPath(url: string): string | undefined {
  const [path = ''] = url.replace(SCHEME_AND_AUTHORITY, '').split(/[?#]/, 1);
  if (!path.startsWith('/')) return path === '' ? '/' : undefined;
  const segments = path.slice(1).split('/', SEGMENTS_LIMIT);
  const unknown = segments.findIndex((segment) => !KNOWN.has(segment));
  const known = `/${segments.slice(0, unknown === -1 ? undefined : unknown).join('/')}`;
  if (known === path) return path;
  return `${known === '/' ? '' : known}/… (${path.length} characters)`;
}
