/** What a server needs of the API, whichever runtime it runs on: loading this module loads no carrier. */

export { openApiDocument } from '../docs/openapi.ts';
export { isOrigin } from './cors.ts';
export { sunsetNotice } from './deprecation.ts';
export type { KeyVerifier, MetricsText } from './options.ts';
export type { RequestObserver } from './request-observer.ts';
export type { HttpServer, HttpServerOptions, ServerStatistics } from './server-options.ts';
export { forgetServer, newSharedLimits, type ServerThread } from './shared-limits.ts';
