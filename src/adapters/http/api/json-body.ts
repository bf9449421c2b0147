import { MIMEType } from 'node:util';
import { type AnimalStoreError, invalidRequest } from '../../../domain/errors.ts';
import { type Context, fieldOf, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import { SlowClients } from './slow-clients.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT: number = 64 * 1024;

/** The maximum number of request bodies that arrive at the same time. Each of them takes up to 64 KiB. */
const BODIES_LIMIT = 1000;

const MEDIA_TYPE = 'application/json';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the whole body if it has already arrived, and otherwise a promise. Throws or rejects with `payload_too_large` when
 * the body is too large, and with `invalid_request` when the body ends early.
 */
export type ReadBytes = (ctx: Context) => Uint8Array | Promise<Uint8Array>;

/**
 * Sets `ctx.request.body` to the parsed body, unless its media type is not JSON in UTF-8 or it has a `Content-Encoding`.
 *
 * @param parse throws a `SyntaxError` or a `RangeError`, as `memberReader` describes
 * @param servers the number of servers that share the limit on bodies
 */
export function readJson(readBytes: ReadBytes, parse: (text: string) => unknown, servers = 1): Stage {
  const bodies = new SlowClients(Math.ceil(BODIES_LIMIT / servers));
  return async (ctx, next) => {
    if (!isJson(fieldOf(ctx, 'content-type')) || ctx.headers['content-encoding'] !== undefined) {
      throw new HttpError(
        'unsupported_media_type',
        `Content-Type must be ${MEDIA_TYPE}, without a charset or with charset=utf-8, and Content-Encoding must be absent`,
        { Accept: MEDIA_TYPE },
      );
    }
    const body = readBytes(ctx);
    ctx.request.body = parsed(body instanceof Promise ? await received(body, bodies) : body, parse);
    await next();
  };
}

/** Also rejects with `request_timeout`, when this is the oldest of too many bodies. */
function received(body: Promise<Uint8Array>, bodies: SlowClients): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const client = { destroy: () => reject(new HttpError('request_timeout', TOO_MANY_BODIES)) };
    bodies.hold(client, 1);
    body.then(resolve, reject).finally(() => bodies.release(client));
  });
}

function parsed(bytes: Uint8Array, parse: (text: string) => unknown): unknown {
  if (bytes.length === 0) throw invalidRequest('the body is missing');
  try {
    return parse(utf8.decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidRequest(`the body is not valid JSON: ${error.message}`);
    const fault = error instanceof RangeError ? 'nested too deeply' : 'not valid UTF-8';
    throw invalidRequest(`the body is ${fault}`);
  }
}

/** Reads a stream to its end. */
export async function readChunks(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // A loop that ends early cancels the stream, so that the rest of the body is not received.
    for await (const chunk of body) {
      size += chunk.length;
      if (size > BODY_LIMIT) break;
      chunks.push(chunk);
    }
  } catch {
    throw bodyIncomplete();
  }
  if (size > BODY_LIMIT) throw bodyTooLarge();
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
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

const TOO_MANY_BODIES = 'the body did not arrive while many other requests arrived: send it again';
