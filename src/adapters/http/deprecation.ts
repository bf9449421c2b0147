/** What clients and operators learn of the deprecated operation. */

import type { Stage } from './context.ts';
import type { HttpError } from './errors.ts';
import { DEPRECATED_SINCE, OPERATIONS, SUNSET } from './operations.ts';

const DEPRECATED_PATHS = OPERATIONS.filter(({ deprecated }) => deprecated).map(
  ({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
);

/** Adds the fields of the deprecation to every response of its path but 401, which tells nothing about the API. */
export function deprecation(prefix: string): Stage {
  // RFC 9745, RFC 8594, and RFC 5829 for the relation `successor-version`.
  const fields = {
    Deprecation: `@${DEPRECATED_SINCE.getTime() / 1000}`,
    Sunset: SUNSET.toUTCString(),
    Link: `<${prefix}/docs>; rel="deprecation"; type="text/html", <${prefix}/v1/pets>; rel="successor-version"`,
  };
  return (ctx, next) => {
    if (!DEPRECATED_PATHS.some((pattern) => pattern.test(ctx.state.animalStore.path))) return next();
    ctx.set(fields);
    return next().catch((error: Partial<HttpError> | undefined) => {
      if (error?.status === 401) for (const name in fields) ctx.remove(name);
      throw error;
    });
  };
}

/** Returns a warning for the operator from the sunset of `GET /v1/pets/{petId}` on, and `undefined` before it. */
export function sunsetNotice(now: number): string | undefined {
  if (now < SUNSET.getTime()) return undefined;
  return `GET /v1/pets/{petId} has passed its sunset on ${SUNSET.toISOString()}`;
}
