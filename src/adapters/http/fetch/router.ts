import compose from 'koa-compose';
import type { Stage } from '../api/context.ts';
import type { CreateRouter } from '../api/routes.ts';

/** Routes like @koa/router, which needs `node:http`. */
export const createTemplateRouter: CreateRouter = (endpoints) => {
  const routes = endpoints.map(({ path, method, handlers }) => ({
    name: path,
    pattern: patternOf(path),
    methods: method === undefined ? [] : method === 'GET' ? ['HEAD', 'GET'] : [method],
    handle: compose(handlers as Stage[]),
  }));
  return (ctx, next) => {
    const { path } = ctx.state.animalStore;
    const matched = routes.filter(({ pattern }) => pattern.test(path));
    ctx.matched = matched;
    const route = matched.find(({ methods }) => methods.length === 0 || methods.includes(ctx.method));
    if (route === undefined) return next();
    const params = Object.entries(route.pattern.exec(path)?.groups ?? {});
    ctx.params = Object.fromEntries(params.map(([name, value]) => [name, decode(value)]));
    return route.handle(ctx);
  };
};

/** Converts a path template to a pattern: `/v1/pets/{petId}` matches `/v1/pets/` and one segment, `petId`. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Decodes a segment of a path. Returns a segment that is not valid unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
