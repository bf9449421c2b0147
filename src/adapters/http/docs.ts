/** The OpenAPI document and the reference page with its assets. They need no key. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Context } from 'koa';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { HttpAppOptions } from './app.ts';
import { type Encodings, sendEncoded } from './encodings.ts';
import type { Headers } from './errors.ts';
import { API_HEADERS, SECURITY_HEADERS } from './headers.ts';
import { documentAt } from './openapi-bytes.ts';
import type { Handler } from './pets.ts';

/** A file of the reference page. */
export interface DocsAsset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

/** Where `npm run build` puts the page, compressed: the same folder for the source and for what is built from it. */
const FOLDER = new URL('../../../dist/docs/', import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

export const DOCS_ASSETS: readonly DocsAsset[] = [
  { path: '/docs', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/docs/docs.js', file: 'docs.js', type: SCRIPT },
  { path: '/docs/exact-integers.js', file: 'exact-integers.js', type: SCRIPT },
  { path: '/docs/docs.css', file: 'docs.css', type: STYLE },
  { path: '/docs/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  { path: '/docs/swagger-ui-bundle.js', file: 'swagger-ui-bundle.js', type: SCRIPT },
  { path: '/docs/swagger-ui.css', file: 'swagger-ui.css', type: STYLE },
];

/** Nothing from outside, nothing inline, and nobody frames the page. */
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

/** The document, whose server is the public address, or else the one that the request came to. */
export function openApi({ publicUrl }: HttpAppOptions): Handler {
  return (ctx) => sendEncoded(ctx, API_HEADERS, 'application/json', documentAt(publicUrl ?? originOf(ctx)));
}

/** One file of the page. It is read at the start, when there are descriptors for it, and else when it is asked for. */
export function docsAsset({ file, type }: DocsAsset): Handler {
  const headers = [...SECURITY_HEADERS, ...PAGE_POLICY];
  let asset: Encodings | undefined;
  const load = () => (asset ??= readAsset(file));
  try {
    load();
  } catch {} // the responses and the log tell of it
  return (ctx) => sendEncoded(ctx, headers, type, load());
}

function readAsset(file: string): Encodings {
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

/** Empty, and so relative to the document, when the request does not tell it. */
function originOf({ req, protocol }: Context): string {
  const { host } = req.headers;
  return host === undefined || host === '' ? '' : `${protocol}://${host}`;
}
