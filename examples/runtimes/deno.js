/** The API on Deno: `deno run --allow-all deno.js`. */

import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';

const store = await createAnimalStore({ database: 'sqlite:./pets.db' });
const pets = createFetchHandler(store);
const { addr } = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, (request, { remoteAddr }) =>
  pets(request, { remoteAddress: remoteAddr.hostname, remotePort: remoteAddr.port }),
);
console.log(`Listening on http://127.0.0.1:${addr.port}/`);
