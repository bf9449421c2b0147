import { encodedResponse, varyOf } from '../api/encodings.ts';
import { API_HEADERS } from '../api/headers.ts';
import type { ApiRequest, Handler } from '../api/http.ts';
import type { HttpOptions } from '../api/options.ts';
import { documentAt } from './cached-document.ts';

/**
 * Creates the handler of `/openapi.json`. The server URL in the document is the public URL, or by default the address
 * to which the request was sent.
 */
export function openApi({ publicUrl, corsOrigins = [] }: HttpOptions): Handler {
  const headers = [...API_HEADERS, ...varyOf(corsOrigins)];
  return (request) =>
    encodedResponse(request, documentAt(publicUrl ?? originOf(request)), 'application/json', headers);
}

/**
 * Returns the origin to which a request was sent. Without `Host`, the result is empty, and the server URL is relative
 * to the document.
 */
function originOf({ head, protocol }: ApiRequest): string {
  const { host } = head.headers;
  return host === undefined || host === '' ? '' : `${protocol}://${host}`;
}
