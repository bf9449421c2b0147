/** The client of the API in a page of another origin. */

import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { listen } from '../../support/sockets.ts';
import { withClientServers } from '../client-servers.js';

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
  const shop = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>shop</title>');
  });
  const origin = await listen(shop);
  const page = await context.newPage();
  try {
    await page.goto(origin);
    await page.addScriptTag({ content: await bundle() });
    const run = (addresses) => page.evaluate((servers) => globalThis.story.run(servers), addresses);
    await withClientServers(run, { CORS_ORIGIN: origin });
  } finally {
    await page.close();
  }
}
