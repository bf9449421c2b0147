/**
 * Caches the OpenAPI document as bytes, one document per server URL. The document contains the server URL, which can
 * depend on the `Host` of the request.
 */

import { hash } from 'node:crypto';
import type { EncodedResource } from '../api/encodings.ts';
import { serverUrlOf } from '../api/public-url.ts';
import { openApiDocument } from './document.ts';

/** The maximum number of cached documents. */
const CACHE_LIMIT = 16;

const PLACEHOLDER = 'https://placeholder.invalid/v1';

interface Template {
  readonly tag: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

let template: Template | undefined;
const cache = new Map<string, EncodedResource>();

/**
 * Returns the OpenAPI document as bytes, from the cache if possible. The parameter `origin` is the same as in {@link
 * openApiDocument}.
 */
export function documentAt(origin: string): EncodedResource {
  let encodings = cache.get(origin);
  if (encodings === undefined) {
    template ??= templateOf(openApiDocument(PLACEHOLDER));
    encodings = fill(template, JSON.stringify(serverUrlOf(origin)));
    if (cache.size >= CACHE_LIMIT) cache.clear();
    cache.set(origin, encodings);
  }
  return encodings;
}

function templateOf(document: string): Template {
  const [before = '', after = ''] = document.split(JSON.stringify(PLACEHOLDER));
  return {
    tag: hash('sha256', document, 'base64url'),
    before: Buffer.from(before),
    after: Buffer.from(after),
  };
}

function fill({ tag, before, after }: Template, url: string): EncodedResource {
  const identity = Buffer.concat([before, Buffer.from(url), after]);
  return { tag: hash('sha256', tag + url, 'base64url'), identity: () => identity };
}
