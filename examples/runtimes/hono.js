/** The API in a Hono app, here on Bun: `bun hono.js`. */

import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';
import { Hono } from 'hono';
import { getConnInfo } from 'hono/bun';

const store = await createAnimalStore({ database: 'sqlite:./pets.db' });
const pets = createFetchHandler(store);
const app = new Hono();
app.all('/v1/*', (context) => {
  const { remote } = getConnInfo(context);
  return pets(context.req.raw, { remoteAddress: remote.address, remotePort: remote.port });
});
app.get('/', (context) => context.text('the rest of the site'));

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: app.fetch });
console.log(`Listening on ${server.url}`);
