/** The OpenAPI document and the reference page with its assets. They need no key. */

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';
import { send } from './answer.ts';
import type { HttpAppOptions } from './app.ts';
import type { Headers } from './errors.ts';
import { JSON_HEADERS, matches, REVALIDATE, SECURITY_HEADERS } from './headers.ts';
import type { Handler } from './pets.ts';

/** A file of the reference page. */
export interface DocsAsset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

/** Where `npm run build` puts the page: the same folder for the source and for what is built from it. */
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

/** What a Host header can hold (RFC 3986, section 3.2.2). */
const HOST = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/;

const compress = promisify(gzip);

/** The document, whose server is the public address, or else the one that the request came to. */
export function openApi({ publicUrl }: HttpAppOptions): Handler {
  return async (ctx) => {
    const { openApiDocument } = await import('./openapi.ts');
    const body = openApiDocument(publicUrl ?? originOf(ctx));
    sendRevalidated(ctx, `"${hash('sha256', body, 'base64url')}"`, JSON_HEADERS, [], body);
  };
}

/** One file of the page, read when it is first asked for. Browsers take a third of it, compressed. */
export function docsAsset({ file, type }: DocsAsset): Handler {
  const headers = [...SECURITY_HEADERS, ...PAGE_POLICY, 'Vary', 'Accept-Encoding'];
  let loaded: Promise<{ body: Buffer; compressed: Buffer; tag: string }> | undefined;
  const load = async () => {
    const body = await readFile(new URL(file, FOLDER));
    return { body, compressed: await compress(body), tag: hash('sha256', body, 'base64url') };
  };
  return async (ctx) => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    const { body, compressed, tag } = await loaded;
    if (takesGzip(ctx.get('Accept-Encoding'))) {
      const ofBody = ['Content-Type', type, 'Content-Encoding', 'gzip'];
      sendRevalidated(ctx, `"${tag}-gzip"`, headers, ofBody, compressed);
    } else {
      sendRevalidated(ctx, `"${tag}"`, headers, ['Content-Type', type], body);
    }
  };
}

function sendRevalidated(
  ctx: Context,
  etag: string,
  headers: Headers,
  ofBody: Headers,
  body: string | Buffer,
): void {
  const always = [...headers, ...REVALIDATE, 'ETag', etag];
  if (matches(ctx.req.headers['if-none-match'], etag)) send(ctx, 304, always);
  else send(ctx, 200, [...always, ...ofBody], body);
}

/** Empty, and so relative to the document, when the request does not tell it. */
function originOf({ req, protocol }: Context): string {
  const { host } = req.headers;
  return host !== undefined && HOST.test(host) ? `${protocol}://${host}` : '';
}

function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding
    .split(',')
    .some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
