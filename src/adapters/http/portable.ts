/** The part of `index.ts` that settings and commands need. This module does not load Koa. */

export { isOrigin } from './cors.ts';
export { sunsetNotice } from './deprecation.ts';
export { openApiDocument } from './docs/openapi.ts';
export type { DeprecationFields, LifecycleOptions } from './lifecycle.ts';
export type {
  HttpOptions,
  HttpServer,
  HttpServerOptions,
  HttpStore,
  KeyVerifier,
  MetricsText,
  ServerStatistics,
  UserMiddleware,
  UserMiddlewares,
} from './options.ts';
export { isPublicUrl } from './options.ts';
export type { RateLimit } from './rate-limit.ts';
export type { ApiState, RequestState } from './state.ts';
