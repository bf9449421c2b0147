/** The state of a request in `ctx.state`, which the middleware of the API shares. */

import type { RouterContext, RouterMiddleware } from '@koa/router';
import type { ApiKeyHolder } from '../../application/ports/api-key-verifier.ts';
import type { DeprecationFields } from './lifecycle.ts';

/** The facts about a request that the middleware of the API shares. */
export interface RequestState {
  readonly requestId: string;
  /** The path of the request target. Empty if the request target is not a URL. */
  readonly path: string;
  /** The key holder; `undefined` before the API key is checked, and if the path needs no key. */
  holder: ApiKeyHolder | undefined;
  /** The deprecation header fields. Error responses also have them, except 401, which must not disclose which paths exist. */
  deprecation?: DeprecationFields;
  /** The error that caused the response with status 500. */
  failure?: unknown;
}

/** The state of a Koa context of the API. */
export interface ApiState {
  animalStore: RequestState;
}

/** A stage or a handler of the API, and its context. */
export type ApiMiddleware = RouterMiddleware<ApiState>;
export type ApiContext = RouterContext<ApiState>;
