/** Express 5 in the usual way, with one middleware each for the key, the body and errors. */

import { createServer } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import { ValiError } from 'valibot';
import { readNewPet, readPetId, readQuery } from './input.ts';
import { errorJson, parseExact, petJson, petsJson } from './json.ts';
import { openStore, run } from './run.ts';

const store = openStore();
const app: Express = express();

app.use((request, response, next) => {
  if (store.allows(request.headers.authorization)) next();
  else respond(response, 401, errorJson(401, 'unauthorized', 'a valid API key is needed'));
});

app.get('/v1/pets', (request, response) => {
  respond(response, 200, petsJson(store.list(readQuery(request.query))));
});

app.get('/v1/pets/:petId', (request, response) => {
  const id = readPetId(request.params.petId);
  const pet = id === undefined ? undefined : store.find(id);
  if (pet === undefined) respond(response, 404, errorJson(404, 'not_found', 'there is no such pet'));
  else respond(response, 200, petJson(pet));
});

app.post('/v1/pets', express.text({ type: 'application/json' }), (request, response) => {
  const { name, categoryId, status } = readNewPet(parseExact(request.body));
  const pet = store.add(name, categoryId, status);
  response.set('Location', `/v1/pets/${pet.id}`);
  respond(response, 201, petJson(pet));
});

app.use((_request, response) => {
  respond(response, 404, errorJson(404, 'not_found', 'there is no such path'));
});

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const isInvalid = error instanceof ValiError || error instanceof SyntaxError;
  const status = isInvalid ? 400 : 500;
  const code = isInvalid ? 'invalid_request' : 'internal_error';
  respond(response, status, errorJson(status, code, isInvalid ? error.message : 'internal error'));
};
app.use(onError);

function respond(response: Response, status: number, body: string): void {
  response.status(status).type('application/json').send(body);
}

run(createServer(app), store);
