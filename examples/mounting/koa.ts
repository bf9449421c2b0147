/** The API as a middleware in a Koa app. */

import type { Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { animalStore } from 'animal-store/http';
import Koa from 'koa';

export async function serve(store: AnimalStore): Promise<Server> {
  const app = new Koa();
  app.use(animalStore(store));
  app.use((ctx) => {
    ctx.body = 'the rest of the site';
  });
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}
