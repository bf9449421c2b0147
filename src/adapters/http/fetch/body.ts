import { BODY_LIMIT, bodyIncomplete, bodyRead, bodyTooLarge, readChunks } from '../api/json-body.ts';

/** Reads the whole body, as `ReadBytes` describes. */
export function readRequest(request: Request): Promise<Uint8Array> {
  if (request.bodyUsed) throw bodyRead();
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > BODY_LIMIT) throw bodyTooLarge();
  return length >= 0 ? readAtOnce(request, length) : readChunks(request.body ?? noChunks());
}

/** Runtimes read a body faster at once than as a stream. */
async function readAtOnce(request: Request, length: number): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await request.arrayBuffer());
  } catch {
    throw bodyIncomplete();
  }
  if (bytes.length > BODY_LIMIT) throw bodyTooLarge();
  if (bytes.length < length) throw bodyIncomplete();
  return bytes;
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}
