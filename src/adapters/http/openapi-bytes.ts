/**
 * The OpenAPI document as it goes out. Clients choose the address in it by their Host, so it is made and compressed
 * once, around the address, and a new address costs neither.
 */

import { hash } from 'node:crypto';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { Encodings } from './encodings.ts';
import { openApiDocument, serverUrlOf } from './openapi.ts';

/** How many addresses are cached. */
const CACHE_LIMIT = 16;

const PLACEHOLDER = 'https://placeholder.invalid/v1';

/** The fields before the compressed data (RFC 1952, section 2.3): deflate, no name, no time, an unknown system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Bytes in a block that is not compressed. */
const BLOCK_LIMIT = 0xffff;

interface Template {
  readonly tag: string;
  readonly plain: readonly [before: Buffer, after: Buffer];
  /** The same, compressed each for itself. */
  readonly deflated: readonly [before: Buffer, after: Buffer];
}

let template: Template | undefined;
const cache = new Map<string, Encodings>();

/** @param origin as {@link openApiDocument} takes it */
export function documentAt(origin: string): Encodings {
  let encodings = cache.get(origin);
  if (encodings === undefined) {
    template ??= templateOf(openApiDocument(PLACEHOLDER));
    encodings = fill(template, Buffer.from(JSON.stringify(serverUrlOf(origin))));
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(origin, encodings);
  }
  return encodings;
}

function templateOf(document: string): Template {
  const [before = '', after = ''] = document.split(JSON.stringify(PLACEHOLDER));
  const plain = [Buffer.from(before), Buffer.from(after)] as const;
  // The first part ends at a byte and without a last block, so that more can follow.
  const unfinished = deflateRawSync(plain[0], { finishFlush: constants.Z_FULL_FLUSH });
  return {
    tag: hash('sha256', document, 'base64url'),
    plain,
    deflated: [unfinished, deflateRawSync(plain[1])],
  };
}

function fill({ tag, plain: [before, after], deflated }: Template, url: Buffer): Encodings {
  const identity = Buffer.concat([before, url, after]);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(identity), 0);
  trailer.writeUInt32LE(identity.length, 4);
  return {
    tag: hash('sha256', `${tag}${url}`, 'base64url'),
    gzip: Buffer.concat([GZIP_HEAD, deflated[0], ...stored(url), deflated[1], trailer]),
    identity: () => identity,
  };
}

/** Blocks that are not compressed (RFC 1951, section 3.2.4): for a few bytes there is nothing to gain. */
function stored(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += BLOCK_LIMIT) {
    const block = bytes.subarray(start, start + BLOCK_LIMIT);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ BLOCK_LIMIT, 3);
    blocks.push(head, block);
  }
  return blocks;
}
