/** The API in an Express app. It comes before every body parser, because it reads the body itself. */

import type { Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';
import express from 'express';

export async function serve(store: AnimalStore): Promise<Server> {
  const pets = createHttpApp(store).callback();
  const app = express();
  app.disable('x-powered-by');
  app.use((request, response, next) => {
    if (/^\/v1(?:\/|$)/.test(request.path)) pets(request, response);
    else next();
  });
  app.use(express.json());
  app.use((_request, response) => {
    response.end('the rest of the site');
  });
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}
