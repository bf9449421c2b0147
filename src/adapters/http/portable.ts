/** What settings and commands need of this adapter: loading this module loads no Koa. */

export { isOrigin } from './cors.ts';
export { sunsetNotice } from './deprecation.ts';
export { openApiDocument } from './docs/openapi.ts';
export type { HttpServerOptions, KeyVerifier } from './options.ts';
export type { RateLimit } from './rate-limit.ts';
