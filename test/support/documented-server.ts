/** A server with a store in memory. Each response is checked against the OpenAPI document. */

import { onTestFinished } from 'vitest';
import { createServer, type HttpOptions } from '../../src/adapters/http/index.ts';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { registerKey } from './canary.ts';
import { checkAgainstDocument } from './openapi-check.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface DocumentedServer {
  readonly origin: string;
  /**
   * Sends a request with a valid key, or with the `Authorization` field in `init`. An empty `Authorization` field is
   * not sent.
   */
  ask(method: string, target: string, init?: RequestInit): Promise<Answer>;
  /** Sends a JSON body to `/v1/pets`. */
  post(body: string, headers?: Record<string, string>): Promise<Answer>;
}

/** Starts a server. The server is stopped at the end of the test. */
export async function startDocumentedServer(options: HttpOptions = {}): Promise<DocumentedServer> {
  const store = new AnimalStore(openMemoryStorage());
  const { key } = await store.apiKeys.create('test');
  registerKey(key);
  const server = createServer(store, options);
  const origin = await server.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await server.stop(0);
    await store.close();
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
