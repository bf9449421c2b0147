/** The API in a Next.js app, as `app/v1/[...path]/route.js`, with `serverExternalPackages: ['animal-store']`. */

import { createAnimalStore } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';

const store = await createAnimalStore({ database: 'sqlite:./pets.db' });
const pets = createFetchHandler(store);

// Not `GET = pets`: Next.js passes the context of the route as the second argument, where `pets` expects the client's address.
export const GET = (request) => pets(request);
export const HEAD = GET;
export const POST = GET;
export const PUT = GET;
export const PATCH = GET;
export const DELETE = GET;
export const OPTIONS = GET;
