/** A small server over memory, whose every answer is checked against the OpenAPI document. */

import { onTestFinished } from 'vitest';
import { createHttpApp, type HttpAppOptions } from '../../src/adapters/http/app.ts';
import { createHttpServer } from '../../src/adapters/http/server.ts';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { CreatePet } from '../../src/application/create-pet.ts';
import { GetPet } from '../../src/application/get-pet.ts';
import { ListPets } from '../../src/application/list-pets.ts';
import { checkAgainstDocument } from './openapi-check.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface DocumentedServer {
  readonly origin: string;
  /** Asks with a good key, unless `Authorization` is given; empty stands for none. */
  ask(method: string, target: string, init?: RequestInit): Promise<Answer>;
  /** Sends a body in JSON to `/v1/pets`. */
  post(body: string, headers?: Record<string, string>): Promise<Answer>;
}

/** Lives as long as the test. */
export async function startDocumentedServer(
  options: Partial<HttpAppOptions> = {},
): Promise<DocumentedServer> {
  const storage = openMemoryStorage();
  const { key } = await new ApiKeys(storage.apiKeys).create('test');
  const server = createHttpServer(() =>
    createHttpApp({
      createPet: new CreatePet(storage.pets),
      listPets: new ListPets(storage.pets),
      getPet: new GetPet(storage.pets),
      apiKeys: storage.apiKeys,
      check: () => storage.check(),
      ...options,
    }),
  );
  const origin = await server.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await server.stop(0);
    await storage.close();
  });
  const ask = async (method: string, target: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = new Headers({ Connection: 'close', Authorization: `Bearer ${key}`, ...init.headers });
    if (headers.get('Authorization') === '') headers.delete('Authorization');
    const response = await fetch(origin + target, { ...init, method, headers });
    const body = await response.text();
    const answer = { status: response.status, headers: Object.fromEntries(response.headers), body };
    checkAgainstDocument(answer, { method, target });
    return answer;
  };
  const post = (body: string, headers: Record<string, string> = {}) =>
    ask('POST', '/v1/pets', { body, headers: { 'Content-Type': 'application/json', ...headers } });
  return { origin, ask, post };
}
