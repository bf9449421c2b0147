import Router from '@koa/router';
import type { CreateMatcher } from '../api/http.ts';

/** Finds path templates with @koa/router, whose middleware would compose a chain of functions for each request. */
export const createMatcher: CreateMatcher = (templates) => {
  const router = new Router({ sensitive: true, strict: true });
  // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
  for (const template of templates) router.all(template, template.replaceAll(/\{(\w+)\}/g, ':$1'), () => {});
  return (path) => {
    const [layer] = router.match(path, 'GET').pathAndMethod;
    if (layer?.name === undefined) return undefined;
    return { route: layer.name, params: layer.params(path, layer.captures(path)) };
  };
};
