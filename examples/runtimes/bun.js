/** The API on Bun: `bun bun.js`. */

import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';

const store = await createAnimalStore({ database: 'sqlite:./pets.db' });
const pets = createFetchHandler(store);
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch(request, { requestIP }) {
    const client = requestIP.call(server, request);
    return pets(request, { remoteAddress: client?.address, remotePort: client?.port });
  },
});
console.log(`Listening on ${server.url}`);
