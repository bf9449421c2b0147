/** Typical Koa code, with the packages that animal-store uses, as their documentation shows them. */

import { createServer } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { ValiError } from 'valibot';
import { readNewPet, readPetId, readQuery } from './input.ts';
import { errorJson, parseExact, petJson, petsJson } from './json.ts';
import { openStore, run } from './run.ts';

const store = openStore();
const app = new Koa();
const router = new Router({ prefix: '/v1' });

app.use(async (ctx, next) => {
  try {
    await next();
    if (ctx.status === 404 && ctx.body == null) {
      respond(ctx, 404, errorJson(404, 'not_found', 'there is no such path'));
    }
  } catch (error) {
    const isInvalid = error instanceof ValiError || error instanceof SyntaxError;
    const status = isInvalid ? 400 : 500;
    const code = isInvalid ? 'invalid_request' : 'internal_error';
    respond(ctx, status, errorJson(status, code, isInvalid ? error.message : 'internal error'));
  }
});

app.use(async (ctx, next) => {
  if (store.allows(ctx.headers.authorization)) await next();
  else respond(ctx, 401, errorJson(401, 'unauthorized', 'a valid API key is needed'));
});

app.use(bodyParser({ enableTypes: ['text'], extendTypes: { text: ['application/json'] } }));

router.get('/pets', (ctx) => {
  respond(ctx, 200, petsJson(store.list(readQuery(ctx.query))));
});

router.get('/pets/:petId', (ctx) => {
  const { petId } = ctx.params;
  const id = readPetId(petId);
  const pet = id === undefined ? undefined : store.find(id);
  if (pet === undefined) respond(ctx, 404, errorJson(404, 'not_found', 'there is no such pet'));
  else respond(ctx, 200, petJson(pet));
});

router.post('/pets', (ctx) => {
  const { name, categoryId, status } = readNewPet(parseExact(String(ctx.request.body)));
  const pet = store.add(name, categoryId, status);
  ctx.set('Location', `/v1/pets/${pet.id}`);
  respond(ctx, 201, petJson(pet));
});

app.use(router.routes());
app.use(router.allowedMethods());

function respond(ctx: Pick<Context, 'status' | 'type' | 'body'>, status: number, body: string): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = body;
}

run(createServer(app.callback()), store);
