/** Serves the OpenAPI document, with the public URL of the server. */

import { gzipSync } from 'node:zlib';
import { DOCUMENTS, documentNameOf } from '../lifecycle.ts';
import type { HttpOptions } from '../options.ts';
import { BASE_PATH } from '../paths.ts';
import { entityTag } from '../respond.ts';
import type { ApiMiddleware } from '../state.ts';
import { builtFile, type Encodings, encodings, respondNegotiated } from './built-files.ts';

const TEMPLATES = Object.fromEntries(
  Object.keys(DOCUMENTS).map((name) => [name, builtFile(name, String)] as const),
);

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options the options of the server; they decide which operations the document contains
 */
export function openApiDocument(origin: string, options: HttpOptions = {}): string {
  const template = TEMPLATES[documentNameOf(options)] as () => string;
  return template().replace(urlMember(BASE_PATH), () => urlMember(serverUrlOf(origin)));
}

function urlMember(url: string): string {
  return `"url": ${JSON.stringify(url)}`;
}

/** Serves the document. The server URL in it is `publicUrl`, or else relative to the URL of the document. */
export function openApi(options: HttpOptions): ApiMiddleware {
  const { publicUrl = '' } = options;
  let created: Encodings | undefined;
  const create = () => {
    const content = Buffer.from(openApiDocument(publicUrl, options));
    return encodings(content, gzipSync(content), entityTag(content), 'application/json');
  };
  return (ctx) => {
    created ??= create();
    respondNegotiated(ctx, created);
  };
}

/** Returns the base URL of the API: the public URL, with {@link BASE_PATH} added if missing. */
function serverUrlOf(publicUrl: string): string {
  const url = publicUrl.replace(/\/+$/, '');
  return url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
}

/**
 * Returns the path in front of `/v1` in the base URL: `/shop` for the public URL `https://example.org/shop`. A proxy removes this
 * path from requests, so the server adds it to the links in responses.
 */
export function pathPrefixOf(publicUrl: string | undefined): string {
  if (publicUrl === undefined) return '';
  const url = new URL(serverUrlOf(publicUrl));
  // A link that starts with two slashes would lead to another host.
  return url.pathname.slice(0, -BASE_PATH.length).replace(/^\/+/, '/');
}
