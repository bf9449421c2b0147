import { constants, crc32, deflateRawSync } from 'node:zlib';
import { fieldOf, type Stage } from '../context.ts';
import type { HttpOptions } from '../options.ts';
import { BASE_PATH, serverUrlOf } from '../public-url.ts';
import { entityTag } from '../responses.ts';
import { builtFile, type Encodings, encodings, respondNegotiated } from './built-files.ts';

/** The built document: the parts around the URL of the server, and what compresses them. */
const template = builtFile('openapi.json', (content) => {
  const [before = '', after = ''] = String(content).split(serversOf(BASE_PATH));
  return { before, after, compress: splicedGzip(before, after) };
});

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options `indent` is the number of spaces per level of indentation; by default the document is a single line
 */
export function openApiDocument(origin: string, { indent = 0 }: { readonly indent?: number } = {}): string {
  const { before, after } = template();
  const text = `${before}${serversOf(serverUrlOf(origin))}${after}`;
  return indent === 0 ? text : indentedJson(text, indent);
}

/** The document contains the URL of the server: `publicUrl`, or else one that is derived from the `Host` of the request. */
export function openApi({ publicUrl }: HttpOptions): Stage {
  let lastOrigin: string | undefined;
  let last: Encodings;
  return (ctx) => {
    const host = fieldOf(ctx, 'host');
    // Without a `Host`, the URL of the server is relative to the URL of the document.
    const origin = publicUrl ?? (host ? `${ctx.protocol === 'https' ? 'https' : 'http'}://${host}` : '');
    if (origin !== lastOrigin) {
      const content = Buffer.from(openApiDocument(origin));
      const gzip = template().compress(serversOf(serverUrlOf(origin)));
      last = encodings(content, gzip, entityTag(content), 'application/json');
      lastOrigin = origin;
    }
    respondNegotiated(ctx, last);
  };
}

/** `JSON.rawJSON` exists in every supported version of Node.js, but not yet in the types of TypeScript. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns JSON with this number of spaces per level of indentation. Each number is unchanged. */
function indentedJson(text: string, indent: number): string {
  return JSON.stringify(
    JSON.parse(text, unchanged as (key: string, value: unknown) => unknown),
    null,
    indent,
  );
}

function unchanged(_key: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' ? rawJSON(source) : value;
}

function serversOf(url: string): string {
  return `"servers":${JSON.stringify([{ url }])}`;
}

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
