/** The paths of the API, and which of them need an API key. */

import { parseInt64 } from '../../domain/int64.ts';
import type { ApiContext, ApiMiddleware } from './state.ts';

export const METRICS_PATH = '/metrics';

/** The paths in the OpenAPI document are relative to this path. */
export const BASE_PATH = '/v1';

/** Whether a path is `/v1` or below it. Such a path needs an API key, and belongs to the API whatever the options are. */
export function needsApiKey(path: string): boolean {
  return path === BASE_PATH || path.startsWith(`${BASE_PATH}/`);
}

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

/** Returns the path of the request target, or an empty string if the target is not a URL. */
export function pathOf(ctx: Pick<ApiContext, 'path'>): string {
  try {
    // For the request target `http://`, `ctx.path` of Koa is null, although the declared type is `string`.
    return (ctx.path as string | null) ?? '';
  } catch {
    return '';
  }
}

/**
 * For an id that is not an int64, returns 0, which no pet has as its id: the store then looks up the idempotency key before it
 * reports that there is no such pet.
 */
export function petIdOf({ params }: Pick<ApiContext, 'params'>): bigint {
  return parseInt64(params['petId'] ?? '') ?? 0n;
}

/** Restores the path for which the API key was checked, because a host program or middleware may have rewritten it. */
export const restorePath: ApiMiddleware = (ctx, next) => {
  ctx.path = ctx.state.animalStore.path;
  ctx.newRouterPath = '';
  return next();
};
