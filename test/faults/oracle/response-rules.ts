/** The rules for every response of the API, whatever the request was. */

import { fieldOf, isClosing, quote, type Response } from '../client/response-reader.ts';

/** The error codes of the API, and the status of each. */
const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_conflict: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
  storage_unavailable: 503,
};

const FORBIDDEN_FIELDS = ['server', 'x-powered-by', 'via', 'x-aspnet-version'];

type Rule = (response: Response, method: string | undefined) => string | undefined | false;

const RULES: readonly Rule[] = [
  ({ status }) => status >= 500 && `the status ${status}`,
  (response) =>
    fieldOf(response, 'x-content-type-options') !== 'nosniff' && 'no X-Content-Type-Options: nosniff',
  (response) => fieldOf(response, 'referrer-policy') !== 'no-referrer' && 'no Referrer-Policy: no-referrer',
  (response) => !/^[\w-]{1,36}$/.test(fieldOf(response, 'x-request-id') ?? '') && 'no X-Request-Id',
  (response) => Number.isNaN(Date.parse(fieldOf(response, 'date') ?? '')) && 'no Date',
  ({ fields }) => {
    const names = fields.map(([name]) => name.toLowerCase());
    const doubled = names.find((name, index) => names.indexOf(name) !== index);
    return doubled !== undefined && `the header field ${doubled} twice`;
  },
  (response) => {
    const shown = FORBIDDEN_FIELDS.find((name) => fieldOf(response, name) !== undefined);
    return shown !== undefined && `the header field ${shown}`;
  },
  statusFields,
  errorBody,
];

/** Describes what is wrong with the response to a request with the given method, if the request is known. */
export function faultsOf(response: Response, method: string | undefined): string[] {
  return RULES.map((rule) => rule(response, method)).filter((fault) => typeof fault === 'string');
}

/** The header fields that a status requires. */
function statusFields(response: Response): string | false {
  const { status } = response;
  const challenge = fieldOf(response, 'www-authenticate');
  const isChallenge = /^Bearer realm="animal-store"(, error="invalid_token")?$/.test(challenge ?? '');
  if (status === 401 ? !isChallenge : challenge !== undefined)
    return `a ${status} with WWW-Authenticate: ${challenge}`;
  if (status === 405 && !/^[A-Z]+(, [A-Z]+)*$/.test(fieldOf(response, 'allow') ?? ''))
    return 'a 405 without Allow';
  if ([408, 413, 431].includes(status) && !isClosing(response))
    return `a ${status} that does not close the connection`;
  if (status === 415 && fieldOf(response, 'accept') !== 'application/json') return 'a 415 without Accept';
  if ((status === 429 || status === 503) && !/^[1-9]\d*$/.test(fieldOf(response, 'retry-after') ?? ''))
    return `a ${status} without Retry-After`;
  if (status >= 400 && fieldOf(response, 'cache-control') !== 'no-store')
    return `a ${status} without no-store`;
  return false;
}

/** An error has exactly `code`, `message` and `status`. The response to HEAD has no body. */
function errorBody(response: Response, method: string | undefined): string | false {
  const { status, body } = response;
  if (status < 400) return false;
  if (fieldOf(response, 'content-type') !== 'application/json')
    return `a ${status} that is not application/json`;
  if (fieldOf(response, 'content-security-policy') !== "default-src 'none'; frame-ancestors 'none'")
    return `a ${status} without the Content-Security-Policy`;
  if (body.length === 0) return method !== 'HEAD' && `a ${status} without a body`;
  const text = body.toString();
  try {
    const error = JSON.parse(text);
    const isRight =
      Object.keys(error).sort().join() === 'code,message,status' &&
      typeof error.message === 'string' &&
      error.message !== '' &&
      error.status === status &&
      STATUS_OF[error.code] === status;
    return !isRight && `the error body ${quote(text)} of a ${status}`;
  } catch {
    return `the error body ${quote(text)}`;
  }
}
