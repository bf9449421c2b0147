/** The API in a plain `node:http` server. */

import { createServer, type Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';

export async function serve(store: AnimalStore): Promise<Server> {
  const pets = createHttpApp(store).callback();
  const server = createServer((request, response) => {
    if (/^\/v1(?:[/?]|$)/.test(request.url ?? '')) pets(request, response);
    else response.end('the rest of the site');
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
