/** The files of `/docs`, and the handlers that send them. */

import { gunzipSync } from 'node:zlib';
import { entityTag } from '../respond.ts';
import type { ApiMiddleware } from '../state.ts';
import type { Asset } from './asset.ts';
import { builtFile, encodings, respondNegotiated } from './built-files.ts';
import { CLIENT_ASSETS } from './client-asset.ts';
import { PAGE_ASSETS } from './page-assets.ts';

export const DOCS_ASSETS: readonly Asset[] = [
  { path: '/docs', file: 'index.html', type: 'text/html; charset=utf-8' },
  ...PAGE_ASSETS,
  ...CLIENT_ASSETS,
];

/** The content security policy of the documentation, instead of that of the API. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function docsAsset({ file, type }: Asset): ApiMiddleware {
  const representations = builtFile(`${file}.gz`, (gzip) =>
    encodings(gunzipSync(gzip), gzip, entityTag(gzip), type),
  );
  return (ctx) => {
    respondNegotiated(ctx, representations());
    ctx.set('Content-Security-Policy', POLICY);
  };
}
