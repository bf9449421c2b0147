/** The reference page and its assets, which need no API key. */

import { gunzipSync } from 'node:zlib';
import type { Handler } from '../api/exchange.ts';
import { SECURITY_HEADERS, VARY_ENCODING } from '../api/headers.ts';
import type { Headers } from '../api/http.ts';
import { entityTag, representation, revalidated } from '../api/responses.ts';
import { builtFile } from './built-file.ts';

/** A file of the reference page. */
export interface Asset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

export const DOCS_ASSETS: readonly Asset[] = [
  { path: '/docs', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/docs/docs.js', file: 'docs.js', type: 'text/javascript; charset=utf-8' },
  { path: '/docs/docs.css', file: 'docs.css', type: 'text/css; charset=utf-8' },
  { path: '/docs/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
];

/**
 * The header fields of every asset. The content security policy blocks content of other origins, and inline scripts.
 * Other pages cannot show the reference page in a frame.
 */
const HEADERS: Headers = [
  ...SECURITY_HEADERS,
  ...VARY_ENCODING,
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

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i;

export function docsAsset({ file, type }: Asset): Handler {
  const representations = builtFile(`${file}.gz`, (gzip) => {
    const etag = entityTag(gzip);
    return {
      identity: representation(gunzipSync(gzip), etag, HEADERS, type),
      // The codings have different strong entity tags, as RFC 9110, section 8.8.3, requires.
      gzip: representation(gzip, etag.replace(/"$/, '-gzip"'), HEADERS, type, ['Content-Encoding', 'gzip']),
    };
  });
  return ({ head }) => {
    const { identity, gzip } = representations();
    const acceptsGzip = ACCEPTS_GZIP.test(String(head.headers['accept-encoding'] ?? ''));
    return revalidated(head, acceptsGzip ? gzip : identity);
  };
}
