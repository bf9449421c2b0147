/** The reference page and its assets, which need no API key. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { AnimalStoreError } from '../../../domain/errors.ts';
import { type EncodedResource, encodedResponse, varyOf } from '../api/encodings.ts';
import { SECURITY_HEADERS } from '../api/headers.ts';
import type { Handler, Headers } from '../api/http.ts';
import type { HttpOptions } from '../api/options.ts';

/** A file of the reference page. */
export interface Asset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

/**
 * The folder to which `npm run build` writes the compressed reference page. The relative path is the same from this
 * file in `src` and from the built file in `dist`.
 */
const FOLDER = new URL('../../../../dist/docs/', import.meta.url);

export const DOCS_ASSETS: readonly Asset[] = [
  { path: '/docs', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/docs/docs.js', file: 'docs.js', type: 'text/javascript; charset=utf-8' },
  { path: '/docs/docs.css', file: 'docs.css', type: 'text/css; charset=utf-8' },
  { path: '/docs/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
];

/**
 * The content security policy of the reference page. The policy blocks content of other origins, and inline scripts.
 * Other pages cannot show the reference page in a frame.
 */
const PAGE_POLICY: Headers = [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
];

export function docsRoutes({ corsOrigins = [] }: HttpOptions): (readonly [path: string, handler: Handler])[] {
  const headers = [...SECURITY_HEADERS, ...PAGE_POLICY, ...varyOf(corsOrigins)];
  return DOCS_ASSETS.map((asset) => [asset.path, docsAsset(asset, headers)]);
}

/**
 * Creates the handler of an asset, and reads the file of the asset. If reading fails, the handler reads the file during
 * the next request. For example, reading fails when no file descriptor is free.
 */
export function docsAsset({ file, type }: Asset, headers: Headers): Handler {
  let resource: EncodedResource | undefined;
  const load = () => (resource ??= readResource(file));
  try {
    load();
  } catch {
    // The next request reads the file again. If this fails too, the client gets a response with status 503.
  }
  return (request) => encodedResponse(request, load(), type, headers);
}

function readResource(file: string): EncodedResource {
  const gzip = read(new URL(`${file}.gz`, FOLDER));
  let identity: Buffer | undefined;
  return { tag: hash('sha256', gzip, 'base64url'), gzip, identity: () => (identity ??= gunzipSync(gzip)) };
}

function read(url: URL): Buffer {
  try {
    return readFileSync(url);
  } catch (cause) {
    throw new AnimalStoreError('overloaded', 'the reference page cannot be read at the moment', { cause });
  }
}
