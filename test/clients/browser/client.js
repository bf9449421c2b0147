/** The client of the API in a page of another origin. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { startServer } from '../server.js';
import { startUnreliable } from '../unreliable.js';

const ENTRY = 'story';
const PROGRAM = `
  import { createAnimalStore } from '${fileURLToPath(new URL('../../../dist/library/client.js', import.meta.url))}';
  import { clientStory } from '${fileURLToPath(new URL('../client-story.js', import.meta.url))}';
  export const run = (server) => clientStory(createAnimalStore, server);
`;

/** Bundles the story with the built client, for a script of a page. */
async function bundle() {
  const program = {
    name: ENTRY,
    resolveId: (id) => (id === ENTRY ? id : undefined),
    load: (id) => (id === ENTRY ? PROGRAM : undefined),
  };
  const build = await rolldown({ input: ENTRY, platform: 'browser', plugins: [program] });
  const { output } = await build.generate({ format: 'iife', name: ENTRY, codeSplitting: false });
  await build.close();
  return output[0].code;
}

/** The page is loaded over HTTP from another origin, so the server must allow the origin. */
export async function clientInPage({ context }) {
  const site = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>shop</title>');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const origin = `http://127.0.0.1:${site.address().port}`;
  const server = await startServer({ CORS_ORIGIN: origin });
  const proxy = await startUnreliable(server.origin);
  const page = await context.newPage();
  try {
    await page.goto(origin);
    await page.addScriptTag({ content: await bundle() });
    await page.evaluate((addresses) => globalThis.story.run(addresses), {
      base: `${server.origin}/v1`,
      unreliable: `${proxy.origin}/v1`,
      apiKey: server.key,
    });
    assert.ok(proxy.requests.some(({ status }) => status === 'lost'));
  } finally {
    await page.close();
    await proxy.stop();
    await server.stop();
    site.closeAllConnections();
    site.close();
  }
}
