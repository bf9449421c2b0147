/** From the bytes of a request's body to a value. */

import { MIMEType } from 'node:util';
import type { Context } from 'koa';
import bodyParser, { type Options } from 'koa-bodyparser';
import { parseJson } from '../../domain/json.ts';
import { HttpError } from './errors.ts';

/** The largest body, in bytes. */
export const BODY_LIMIT: number = 64 * 1024;

const MEDIA_TYPE = 'application/json';

/** It is asked for bytes: its JSON rounds integers, and its text replaces what is no UTF-8. The types lack `encoding`. */
const parse = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: [MEDIA_TYPE] },
  textLimit: `${BODY_LIMIT}b`,
  encoding: null,
} as Options);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body's value. Throws an {@link HttpError} when it is no JSON in UTF-8 of at most {@link BODY_LIMIT} bytes. */
export async function readJson(ctx: Context): Promise<unknown> {
  const { headers } = ctx.req;
  if (!isJson(headers['content-type']) || headers['content-encoding'] !== undefined) {
    throw new HttpError(
      'unsupported_media_type',
      `the body must be ${MEDIA_TYPE} in UTF-8, without Content-Encoding`,
      ['Accept', MEDIA_TYPE],
    );
  }
  const bytes = await readBytes(ctx);
  if (bytes.length === 0) throw new HttpError('invalid_request', 'the body is missing');
  try {
    return parseJson(utf8.decode(bytes));
  } catch (error) {
    const fault = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON in UTF-8';
    throw new HttpError('invalid_request', `the body ${fault}`);
  }
}

async function readBytes(ctx: Context): Promise<Uint8Array> {
  const { headers } = ctx.req;
  if (headers.expect !== undefined) {
    if (Number(headers['content-length']) > BODY_LIMIT) throw tooLarge();
    ctx.res.writeContinue();
  }
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw isTooLarge(error) ? tooLarge() : new HttpError('invalid_request', 'the body ended early');
  }
  const body: unknown = ctx.request.body;
  return body instanceof Uint8Array ? body : new Uint8Array();
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

function tooLarge(): HttpError {
  return new HttpError('payload_too_large', `the body must have at most ${BODY_LIMIT} bytes`);
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 413;
}
