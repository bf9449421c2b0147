import { gunzipSync } from 'node:zlib';
import type { RouterMiddleware } from '@koa/router';
import { entityTag } from '../respond.ts';
import type { ApiState } from '../state.ts';
import { builtFile, encodings, respondNegotiated } from './built-files.ts';

export interface Asset {
  readonly path: string;
  readonly file: string;
  readonly type: string;
}

// only the page: from here
/** The programs that the guides of the page link to, in the folder `examples`. */
export const PROGRAMS: readonly string[] = [
  ...['curl.sh', 'client.go', 'client.js', 'client.py'].flatMap((name) => [name, `follow/${name}`]),
  ...['follow/copy.py', 'generated/hey-api.ts', 'generated/openapi-fetch.ts', 'typed-client.ts'],
];
// only the page: to here

export const DOCS_ASSETS: readonly Asset[] = [
  { path: '/docs', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/docs/docs.js', file: 'docs.js', type: 'text/javascript; charset=utf-8' }, // only the page
  { path: '/docs/docs.css', file: 'docs.css', type: 'text/css; charset=utf-8' }, // only the page
  { path: '/docs/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  // only the page: from here
  // only the client: from here
  // The client for JavaScript as one module, for those who do not install the package.
  {
    path: '/docs/animal-store-client.js',
    file: 'animal-store-client.js',
    type: 'text/javascript; charset=utf-8',
  },
  // only the client: to here
  ...PROGRAMS.map((program) => ({
    path: `/docs/examples/${program}`,
    file: `examples/${program}`,
    type: 'text/plain; charset=utf-8',
  })),
  // only the page: to here
];

/** Instead of the policy of the API. */
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

export function docsAsset({ file, type }: Asset): RouterMiddleware<ApiState> {
  const representations = builtFile(`${file}.gz`, (gzip) =>
    encodings(gunzipSync(gzip), gzip, entityTag(gzip), type),
  );
  return (ctx) => {
    respondNegotiated(ctx, representations());
    ctx.set('Content-Security-Policy', POLICY);
  };
}
