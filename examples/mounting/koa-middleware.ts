/** Adds your own middleware to the API: a tenant for each request, and an audit line for each create. */

import type { Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { animalStore, type UserMiddleware } from 'animal-store/http';
import Koa from 'koa';

const TENANTS = new Set(['north', 'south']);

/** Sets the tenant of a request. The default is `north`. */
const tenant: UserMiddleware = async (ctx, next) => {
  const name = ctx.get('X-Tenant') || 'north';
  if (!TENANTS.has(name)) ctx.throw(400, 'X-Tenant must be north or south');
  // A field that is set after `next` would be missing in the responses to errors.
  ctx.set('X-Tenant', name);
  await next();
};

export const audited: string[] = [];

/** Records who has created which pet. */
const audit: UserMiddleware = async (ctx, next) => {
  await next();
  if (ctx.status !== 201) return;
  const { holder } = ctx.state.animalStore;
  const { response } = ctx;
  audited.push(`${holder?.name} of ${response.get('X-Tenant')} created ${response.get('Location')}`);
};

export async function serve(store: AnimalStore): Promise<Server> {
  const app = new Koa();
  app.use(animalStore(store, { middleware: { beforeKey: [tenant], afterKey: [audit] } }));
  app.use((ctx) => {
    ctx.body = 'the rest of the site';
  });
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}
