import { MIMEType } from 'node:util';
import { type AnimalStoreError, invalidRequest } from '../../../domain/errors.ts';
import { HttpError } from './errors.ts';
import type { Exchange } from './exchange.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT: number = 64 * 1024;

const MEDIA_TYPE = 'application/json';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the body, unless its media type is not JSON in UTF-8 or it has a `Content-Encoding`.
 *
 * @param parse throws a `SyntaxError` or a `RangeError`, as `memberReader` describes
 */
export async function readJson<T>(exchange: Exchange, parse: (text: string) => T): Promise<T> {
  const { headers } = exchange.head;
  if (!isJson(headers['content-type']) || headers['content-encoding'] !== undefined) {
    throw new HttpError(
      'unsupported_media_type',
      `Content-Type must be ${MEDIA_TYPE}, without a charset or with charset=utf-8, and Content-Encoding must be absent`,
      ['Accept', MEDIA_TYPE],
    );
  }
  const bytes = await exchange.readBody();
  if (bytes.length === 0) throw invalidRequest('the body is missing');
  try {
    return parse(utf8.decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidRequest(`the body is not valid JSON: ${error.message}`);
    const fault = error instanceof RangeError ? 'nested too deeply' : 'not valid UTF-8';
    throw invalidRequest(`the body is ${fault}`);
  }
}

export function bodyTooLarge(): HttpError {
  return new HttpError('payload_too_large', `the body must have at most ${BODY_LIMIT} bytes`);
}

/** The error of a host that has read the body, or a part of it, before this API. The client gets status 500. */
export function bodyRead(): Error {
  return new Error(
    'the body was read before this API got the request: put the API in front of what reads bodies',
  );
}

export function bodyIncomplete(): AnimalStoreError {
  return invalidRequest('the body ended early');
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === MEDIA_TYPE) return true;
  try {
    const { essence, params } = new MIMEType(contentType ?? '');
    return essence === MEDIA_TYPE && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}
