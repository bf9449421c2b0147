import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { CommandError } from '../errors.ts';

const MAGIC = Buffer.from([0x1f, 0x8b]);
const CHUNK_SIZE = 64 * 1024;

/** Decompresses an input that starts with the magic number of gzip. No NDJSON file does, because it is not valid UTF-8. */
export async function* decompressed(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < MAGIC.length) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const all = (async function* () {
    yield head;
    yield* chunks;
  })();
  yield* head.subarray(0, MAGIC.length).equals(MAGIC) ? gunzip(all, name) : all;
}

async function* gunzip(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  const plain = createGunzip({ chunkSize: CHUNK_SIZE });
  // An error destroys `plain` with the same error, so the loop of the consumer reports the error.
  pipeline(Readable.from(chunks), plain).catch(() => {});
  try {
    yield* plain;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw new CommandError(`cannot read ${name}: the gzip data is damaged or truncated: ${error.message}`);
  }
}

export async function writeCompressed(
  texts: AsyncGenerator<string>,
  write: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  await pipeline(Readable.from(texts), createGzip({ chunkSize: CHUNK_SIZE }), async (chunks) => {
    for await (const chunk of chunks) await write(chunk as Buffer);
  });
}
