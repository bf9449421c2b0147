/** Announces the deprecation of an operation to clients and operators. */

import { DEPRECATED_SINCE, type DeprecationFields, SUNSET } from './lifecycle.ts';
import type { Operation } from './operations.ts';
import type { ApiMiddleware } from './state.ts';

/**
 * Adds the deprecation header fields to responses on the path of a deprecated operation, unless the method belongs to
 * another operation. A 401 never has these fields, so that it discloses nothing about the API.
 */
export function deprecation(
  prefix: string,
  operations: readonly Operation[],
  { docs }: { docs: boolean },
): ApiMiddleware {
  const reference = docs ? `<${prefix}/docs>; rel="deprecation"; type="text/html", ` : '';
  // RFC 9745, RFC 8594, and RFC 5829 for the relation `successor-version`.
  const fields: DeprecationFields = {
    Deprecation: `@${DEPRECATED_SINCE.getTime() / 1000}`,
    Sunset: SUNSET.toUTCString(),
    Link: `${reference}<${prefix}/v1/pets>; rel="successor-version"`,
  };
  const paths = operations
    .filter(({ deprecated }) => deprecated)
    .map(({ path }) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      others: operations.filter((each) => each.path === path && !each.deprecated),
    }));
  return (ctx, next) => {
    const { method, state } = ctx;
    const deprecated = paths.find(({ pattern }) => pattern.test(state.animalStore.path));
    const called = method === 'HEAD' ? 'GET' : method;
    if (!deprecated || deprecated.others.some((each) => each.method === called)) return next();
    state.animalStore.deprecation = fields;
    ctx.set(fields);
    return next();
  };
}

/** Returns a warning for the operator after the sunset of `GET /v1/pets/{petId}`, and `undefined` before the sunset. */
export function sunsetNotice(now: number): string | undefined {
  if (now < SUNSET.getTime()) return undefined;
  return `GET /v1/pets/{petId} has passed its sunset on ${SUNSET.toISOString()}`;
}
