/**
 * The upper limit of throughput: node:http with one prepared buffer per kind of request. It checks no keys, and
 * reads and stores nothing.
 */

import { createServer } from 'node:http';
import { petJson, petsJson } from './json.ts';
import { openStore, run } from './run.ts';

/** The page size that a random `limit` has on average. */
const AVERAGE_LIMIT = 50;

const store = openStore();
const first = store.find(1n);
if (first === undefined) throw new Error('the file has no pets');
const page = Buffer.from(petsJson(store.list({ limit: 20 })));
const averagePage = Buffer.from(petsJson(store.list({ limit: AVERAGE_LIMIT })));
const pet = Buffer.from(petJson(first));
store.close();

const server = createServer((request, response) => {
  const url = request.url ?? '';
  if (request.method === 'POST') {
    request.resume();
    request.once('end', () => response.writeHead(201, headers(pet)).end(pet));
    return;
  }
  const body = url === '/v1/pets' ? page : url.startsWith('/v1/pets/') ? pet : averagePage;
  response.writeHead(200, headers(body)).end(body);
});

function headers(body: Buffer) {
  return { 'Content-Type': 'application/json', 'Content-Length': body.length };
}

run(server);
