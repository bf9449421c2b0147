import { constants, crc32, deflateRawSync } from 'node:zlib';

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);

/**
 * Returns a function that compresses a text with another middle part each time. The parts around it are compressed once, so
 * a call costs little for a large text. The result is one member of gzip (RFC 1952).
 */
export function splicedGzip(before: string, after: string): (middle: string) => Buffer {
  const head = deflatedPart(before);
  const tail = deflateRawSync(after, { level: 9 });
  return (middle) => {
    const content = Buffer.from(before + middle + after);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(content), 0);
    trailer.writeUInt32LE(content.length, 4);
    return Buffer.concat([HEADER, head, deflatedPart(middle), tail, trailer]);
  };
}

/** Blocks that end at a byte and are not the last ones, so that others can follow. */
function deflatedPart(text: string): Buffer {
  return deflateRawSync(text, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
}
