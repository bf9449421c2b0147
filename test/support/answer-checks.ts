/** Checks that every response of the server must pass, independently of the request. */

import { expect } from 'vitest';
import { type HttpErrorCode, STATUS_OF } from '../../src/adapters/http/errors.ts';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import type { Operation } from '../../src/adapters/http/operations.ts';
import { type Answer, type Asked, pathOf } from './client.ts';
import { checkAgainstDocument } from './openapi-check.ts';

/** Applies every check to a response of a server with these operations, and returns the response. */
export function checked(
  answer: Answer,
  asked: Asked,
  operations: readonly Operation[] = servedOperations(),
): Answer {
  checkHeadersOfAll(answer, asked);
  checkHeadersOfApi(answer, asked);
  checkHeadersOfStatus(answer);
  checkCaching(answer, asked);
  checkError(answer, asked);
  checkAgainstDocument(answer, asked, operations);
  return answer;
}

function checkHeadersOfAll({ headers, rawHeaders, body, status }: Answer, { method }: Asked): void {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-request-id': expect.stringMatching(/^[\w-]{1,36}$/),
    date: expect.any(String),
  });
  expect(headers).not.toHaveProperty('server');
  expect(headers).not.toHaveProperty('x-powered-by');
  const names = rawHeaders.map(([name]) => name.toLowerCase());
  expect(names).toEqual([...new Set(names)]);
  if (status === 204 || status === 304) expect(headers).not.toHaveProperty('content-length');
  // A compressed body is not text.
  else if (method !== 'HEAD' && headers['content-encoding'] === undefined)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
  if (method === 'HEAD' || status === 204 || status === 304) expect(body).toBe('');
}

function checkHeadersOfApi({ headers, status }: Answer, asked: Asked): void {
  const isApi = /^\/v1(\/|$)/.test(pathOf(asked.target));
  if (!isApi && headers['content-type'] !== 'application/json') return;
  expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  if (status !== 204 && status !== 304) expect(headers['content-type']).toBe('application/json');
}

function checkHeadersOfStatus({ headers, status }: Answer): void {
  if (status === 401) {
    expect(headers['www-authenticate']).toMatch(/^Bearer realm="animal-store"(, error="invalid_token")?$/);
  } else if (status === 403) {
    expect(headers['www-authenticate']).toBe('Bearer realm="animal-store", error="insufficient_scope"');
  } else {
    expect(headers).not.toHaveProperty('www-authenticate');
  }
  if (status === 405) expect(headers['allow']).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 408 || status === 413 || status === 431) expect(headers['connection']).toBe('close');
  const accepted = headers['accept'] ?? headers['accept-patch'];
  if (status === 415) expect(accepted).toMatch(/^(application\/merge-patch\+json, )?application\/json$/);
  if (status === 429 || status === 503) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
}

function checkCaching({ headers, status }: Answer, { method, target }: Asked): void {
  const isChange = /^(POST|PATCH)$/.test(method) && status < 300;
  const isRead = status === 304 || (status === 200 && target.includes('/v1/') && !isChange);
  if (isRead) {
    expect(headers['cache-control']).toBe('private, no-cache');
    expect(headers['etag']).toMatch(/^"[\x21\x23-\x7e]+"$/);
  } else if (status !== 200 || isChange) {
    expect(headers['cache-control']).toBe('no-store');
    // The document says whether a change has an entity tag.
    if (!isChange) expect(headers).not.toHaveProperty('etag');
  }
}

/** Checks the error body of a response. The body of `/readyz` is not checked, because its format is different. */
function checkError({ body, headers, status }: Answer, { method, target }: Asked): void {
  if (status < 400 || target.startsWith('/readyz')) return;
  expect(headers['content-type']).toBe('application/json');
  if (method === 'HEAD') return;
  const error = JSON.parse(body);
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'status']);
  expect(error.message).toEqual(expect.stringMatching(/^.+$/s));
  expect(error.status).toBe(status);
  expect(STATUS_OF[error.code as HttpErrorCode]).toBe(status);
}
