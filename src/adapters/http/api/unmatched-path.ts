/** Makes the path of a request that matches no route safe for a log. */

import { withoutApiKeys } from '../../../domain/api-key.ts';
import type { RequestHead } from './http.ts';

/** The maximum length of the path, in characters. */
const LIMIT = 200;

/**
 * The length to which a path is cut before API keys are searched, in characters. A key that starts within {@link LIMIT}
 * characters is still recognized.
 */
const SEARCH_LIMIT = 300;

/** The minimum length of a credential that is searched in the path. Shorter texts are not secret. */
const SECRET_LENGTH = 16;

const SCHEME_AND_AUTHORITY = /^[a-z][\w+.-]*:\/\/[^/?#]*/i;
const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/g;

/**
 * Returns the path of a request target, for observers. The query and the authority are removed, because they can contain
 * secrets. API keys are masked, characters other than visible ASCII are escaped (`\u0085`), and a long path is cut.
 * Returns `undefined` if the target has no path.
 */
export function unmatchedPath({ url = '', headers }: RequestHead): string | undefined {
  const [path = ''] = url.replace(SCHEME_AND_AUTHORITY, '').split(/[?#]/, 1);
  if (!path.startsWith('/')) return path === '' ? '/' : undefined;
  const start = withoutCredential(path, headers.authorization).slice(0, SEARCH_LIMIT);
  const safe = withoutApiKeys(start).replaceAll(NOT_VISIBLE_ASCII, escaped);
  return safe.length > LIMIT ? `${safe.slice(0, LIMIT)}…` : safe;
}

/** Masks the key that the client sent in `Authorization`. A key that an operator has chosen can have any format. */
function withoutCredential(path: string, authorization = ''): string {
  const key = authorization.slice(authorization.lastIndexOf(' ') + 1);
  return key.length < SECRET_LENGTH ? path : path.replaceAll(key, '…');
}

function escaped(character: string): string {
  return character === '…' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
