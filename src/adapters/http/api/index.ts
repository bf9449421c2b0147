/** What a server needs of the API, whichever runtime it runs on: loading this module loads no carrier. */

export { openApiDocument } from '../docs/openapi.ts';
export { isOrigin } from './cors.ts';
export { sunsetNotice } from './deprecation.ts';
export type { RequestObserver } from './observe.ts';
export type { HttpServer, HttpServerOptions, KeyVerifier, MetricsText, ServerStatistics } from './options.ts';
export { forgetServer, newSharedLimits, type ServerThread } from './shared-limits.ts';
