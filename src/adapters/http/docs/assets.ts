import { gunzipSync } from 'node:zlib';
import type { Handler } from '../api/exchange.ts';
import { SECURITY_HEADERS } from '../api/headers.ts';
import type { Headers } from '../api/http.ts';
import { entityTag } from '../api/responses.ts';
import { builtFile } from './built-file.ts';
import { encodings, negotiated } from './encodings.ts';

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

const HEADERS: Headers = [
  ...SECURITY_HEADERS,
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

export function docsAsset({ file, type }: Asset): Handler {
  const representations = builtFile(`${file}.gz`, (gzip) =>
    encodings(gunzipSync(gzip), gzip, entityTag(gzip), HEADERS, type),
  );
  return ({ head }) => negotiated(head, representations());
}
