import { invalidRequest } from '../../domain/errors.ts';

/** The paths in the OpenAPI document are relative to this path. */
export const BASE_PATH = '/v1';

/** Returns the base URL of the API: the public URL, with {@link BASE_PATH} added if missing. */
export function serverUrlOf(publicUrl: string): string {
  const url = publicUrl.replace(/\/+$/, '');
  return url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
}

/**
 * Returns the path in front of `/v1` in the base URL: `/shop` for `https://example.org/shop`. A proxy removes this path
 * from requests, so the server adds it to the links in responses. Throws `invalid_request` for another kind of URL.
 */
export function pathPrefixOf(publicUrl: string | undefined): string {
  if (publicUrl === undefined) return '';
  const url = URL.parse(serverUrlOf(publicUrl));
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidRequest('publicUrl: expected an http or https URL');
  }
  // A link that starts with two slashes would lead to another host.
  return url.pathname.slice(0, -BASE_PATH.length).replace(/^\/+/, '/');
}
