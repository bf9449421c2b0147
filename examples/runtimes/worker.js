/**
 * The API in workerd, the runtime of Cloudflare Workers, with the compatibility flag `nodejs_compat`. The pets are in the memory
 * of one Worker. To keep them, write an adapter for a database, and pass it as `storage`.
 */

import { env } from 'cloudflare:workers';
import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';

const store = await createAnimalStore({ database: 'memory:' });
const pets = createFetchHandler(store, {
  apiKeys: { verify: async (key) => (key === env.API_KEY ? { id: '1', name: 'me' } : undefined) },
});

export default {
  fetch: (request) => pets(request, { remoteAddress: request.headers.get('CF-Connecting-IP') ?? undefined }),
};
