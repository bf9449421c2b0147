import { gzipSync } from 'node:zlib';
import { parseJson } from '../../../domain/json.ts';
import { exactJson } from '../api/exact-json.ts';
import type { Handler } from '../api/exchange.ts';
import { API_HEADERS, VARY_ENCODING } from '../api/headers.ts';
import type { HttpOptions } from '../api/options.ts';
import { BASE_PATH, serverUrlOf } from '../api/public-url.ts';
import { entityTag, type Representation, representation, revalidated } from '../api/responses.ts';
import { builtFile } from './built-file.ts';
import { type Encodings, encodings, negotiated } from './encodings.ts';

const HEADERS = [...API_HEADERS, ...VARY_ENCODING];

/** The built document, whose server URL is {@link BASE_PATH}. */
const template = builtFile('openapi.json', String);

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options `indent` is the number of spaces per level of indentation; by default the document is a single line
 */
export function openApiDocument(origin: string, { indent = 0 }: { readonly indent?: number } = {}): string {
  const text = template().replace(serversOf(BASE_PATH), () => serversOf(serverUrlOf(origin)));
  return indent === 0 ? text : exactJson(parseJson(text), indent);
}

/** The document contains the URL of the server: `publicUrl`, or else one that is derived from the `Host` of the request. */
export function openApi({ publicUrl }: HttpOptions): Handler {
  return publicUrl === undefined ? openApiOfHost() : openApiAt(publicUrl);
}

function openApiAt(publicUrl: string): Handler {
  let built: Encodings | undefined;
  return ({ head }) => {
    if (built === undefined) {
      const content = Buffer.from(openApiDocument(publicUrl));
      const gzip = gzipSync(content, { level: 9 });
      built = encodings(content, gzip, entityTag(content), API_HEADERS, 'application/json');
    }
    return negotiated(head, built);
  };
}

/** This document is not compressed, because everybody could have it compressed for another host each time. */
function openApiOfHost(): Handler {
  let lastOrigin: string | undefined;
  let last: Representation;
  return ({ head, scheme }) => {
    const { host } = head.headers;
    // Without a `Host`, the URL of the server is relative to the URL of the document.
    const origin = host ? `${scheme}://${host}` : '';
    if (origin !== lastOrigin) {
      const content = Buffer.from(openApiDocument(origin));
      last = representation(content, entityTag(content), HEADERS);
      lastOrigin = origin;
    }
    return revalidated(head, last);
  };
}

function serversOf(url: string): string {
  return `"servers":${JSON.stringify([{ url }])}`;
}
