/** The API in a Fastify app. It runs in a hook, because Fastify reads the body before it calls a handler. */

import type { Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';
import { fastify } from 'fastify';

export async function serve(store: AnimalStore): Promise<Server> {
  const pets = createHttpApp(store).callback();
  const app = fastify();
  app.addHook('onRequest', (request, reply, done) => {
    if (!/^\/v1(?:[/?]|$)/.test(request.url)) return done();
    reply.hijack();
    pets(request.raw, reply.raw);
  });
  app.get('/', async () => 'the rest of the site');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}
