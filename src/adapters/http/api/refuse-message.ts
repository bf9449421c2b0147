import type { Api } from './app.ts';
import { clientAddress } from './client-address.ts';
import type { HttpError } from './errors.ts';
import { API_FIELDS } from './headers.ts';
import { newRequestId } from './request-id.ts';
import { type ErrorContent, errorContent } from './send-errors.ts';

/**
 * Returns the response to a message that the server could not parse as a request, and notifies the observers. Such a
 * message never reaches the stages of the API.
 */
export function refuseMessage(
  { observer, settings }: Api,
  error: HttpError,
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
): ErrorContent {
  const requestId = newRequestId();
  const { status, fields, body } = errorContent(error, requestId);
  observer.onRequest?.({
    method: '',
    route: undefined,
    path: undefined,
    status,
    ms: 0,
    requestId,
    keyId: undefined,
    address: clientAddress(peer, forwardedFor, settings.proxies),
    aborted: undefined,
    traceparent: undefined,
  });
  const length = String(Buffer.byteLength(body));
  const all = {
    ...Object.fromEntries(API_FIELDS),
    ...fields,
    'X-Request-Id': requestId,
    'Content-Length': length,
  };
  return { status, fields: all, body };
}
