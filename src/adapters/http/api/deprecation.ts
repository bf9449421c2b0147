import type { Context, Next, Stage } from './context.ts';
import { DEPRECATED_SINCE, OPERATIONS, SUNSET } from './operations.ts';

/** As the router does, the first operation that matches a path decides. */
const PATHS = OPERATIONS.map(({ path, deprecated = false }) => ({
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  deprecated,
}));

function isDeprecated(path: string): boolean {
  return PATHS.find(({ pattern }) => pattern.test(path))?.deprecated === true;
}

/**
 * Adds the fields of the deprecation to every response but 401, also to one that was refused before the path was routed.
 *
 * @param prefix the path in front of `/docs` and `/v1` that clients use
 */
export function deprecation(prefix: string): Stage {
  // RFC 9745, RFC 8594, and RFC 5829 for the relation `successor-version`.
  const fields = {
    Deprecation: `@${DEPRECATED_SINCE.getTime() / 1000}`,
    Sunset: SUNSET.toUTCString(),
    Link: `<${prefix}/docs>; rel="deprecation"; type="text/html", <${prefix}/v1/pets>; rel="successor-version"`,
  };
  return (ctx, next) => (isDeprecated(ctx.state.animalStore.path) ? deprecated(ctx, next) : next());

  async function deprecated(ctx: Context, next: Next): Promise<void> {
    await next();
    if (ctx.status !== 401) ctx.set(fields);
  }
}

/**
 * Returns a warning for the operator if the sunset of `GET /v1/pets/{petId}` has passed, and otherwise `undefined`.
 *
 * @param now milliseconds since the Unix epoch
 */
export function sunsetNotice(now: number): string | undefined {
  if (now < SUNSET.getTime()) return undefined;
  return `GET /v1/pets/{petId} has passed its sunset on ${SUNSET.toISOString()}`;
}
