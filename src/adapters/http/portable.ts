/** What settings and commands need of this adapter: loading this module loads no Koa. */

export type { RequestObserver } from '../../application/ports/request-observer.ts';
export { isOrigin } from './cors.ts';
export { sunsetNotice } from './deprecation.ts';
export { openApiDocument } from './docs/openapi.ts';
export type { HttpServer, HttpServerOptions, KeyVerifier, MetricsText, ServerStatistics } from './options.ts';
export type { RateLimit } from './rate-limit.ts';
