/** The OpenAPI document as it is sent. Clients choose the address in it by their Host, so it is made once, around the address. */

import { hash } from 'node:crypto';
import type { Encodings } from './encodings.ts';
import { openApiDocument, serverUrlOf } from './openapi.ts';

/** How many addresses are cached. */
const CACHE_LIMIT = 16;

const PLACEHOLDER = 'https://placeholder.invalid/v1';

interface Template {
  readonly tag: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

let template: Template | undefined;
const cache = new Map<string, Encodings>();

/** @param origin as {@link openApiDocument} takes it */
export function documentAt(origin: string): Encodings {
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

function fill({ tag, before, after }: Template, url: string): Encodings {
  const identity = Buffer.concat([before, Buffer.from(url), after]);
  return { tag: hash('sha256', tag + url, 'base64url'), identity: () => identity };
}
