/** The servers that the story of the client needs. */

import assert from 'node:assert/strict';
import { startServer } from './server.js';
import { startUnreliable } from './unreliable.js';

/**
 * Calls `use` with the addresses of an empty store, which {@link clientStory} needs. Rejects if `use` rejects, or if the
 * proxy has lost no response.
 *
 * @param {(addresses: { base: string, unreliable: string, apiKey: string }) => Promise<unknown>} use
 * @param {Record<string, string>} environment additional environment variables of the server
 */
export async function withClientServers(use, environment = {}) {
  const server = await startServer(environment);
  const proxy = await startUnreliable(server.origin);
  await use({ base: `${server.origin}/v1`, unreliable: `${proxy.origin}/v1`, apiKey: server.key });
  assert.ok(
    proxy.requests.some(({ status }) => status === 'lost'),
    'no response was lost',
  );
}
