import Router from '@koa/router';
import type { CreateMatcher } from '../api/http.ts';

/**
 * Finds path templates with @koa/router. Its middleware is not used, because it composes a chain of functions for each
 * request, although each path has exactly one handler.
 */
export const createMatcher: CreateMatcher = (templates) => {
  const router = new Router({ sensitive: true, strict: true });
  for (const template of templates) router.all(template, patternOf(template), () => {});
  return (path) => {
    const [layer] = router.match(path, 'GET').pathAndMethod;
    if (layer?.name === undefined) return undefined;
    const params = layer.paramNames.length === 0 ? {} : layer.params(path, layer.captures(path));
    return { route: layer.name, params };
  };
};

/** Converts a path template to the syntax of @koa/router: `/v1/pets/{petId}` becomes `/v1/pets/:petId`. */
function patternOf(template: string): string {
  return template.replaceAll(/\{(\w+)\}/g, ':$1');
}
