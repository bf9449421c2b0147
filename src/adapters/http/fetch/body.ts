import { BODY_LIMIT, bodyIncomplete, bodyRead, bodyTooLarge } from '../api/json-body.ts';

/** Reads the whole body, as `CarriedRequest.readBody` describes. */
export function readBytes(request: Request): Promise<Uint8Array> {
  if (request.bodyUsed) throw bodyRead();
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > BODY_LIMIT) throw bodyTooLarge();
  return length >= 0 ? readAtOnce(request, length) : readChunks(request.body);
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

async function readChunks(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // A loop that ends early cancels the stream, so that the rest of the body is not received.
    for await (const chunk of body ?? []) {
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
