import { encodedResponse, varyOf } from '../api/encodings.ts';
import { API_HEADERS } from '../api/headers.ts';
import type { ApiRequest, Handler } from '../api/http.ts';
import type { HttpOptions } from '../api/options.ts';
import { documentAt } from './cached-document.ts';

/**
 * Creates the handler of `/openapi.json`. The document contains the URL of the server: the option `publicUrl`, or else
 * a URL that is derived from the `Host` of the request.
 */
export function openApi({ publicUrl, corsOrigins = [] }: HttpOptions): Handler {
  const headers = [...API_HEADERS, ...varyOf(corsOrigins)];
  return (request) =>
    encodedResponse(request, documentAt(publicUrl ?? originOf(request)), 'application/json', headers);
}

/** Returns the origin to which a request was sent, or an empty string if `Host` is missing or empty. */
function originOf({ head, protocol }: ApiRequest): string {
  const { host } = head.headers;
  return host === undefined || host === '' ? '' : `${protocol}://${host}`;
}
