/** The reference page under other conditions: another public URL, no document, no JavaScript, an empty cache. */

import assert from 'node:assert/strict';
import { onTestFinished } from 'vitest';
import { startServer } from '../server.js';
import { consoles } from './checks.js';
import { operation, startBrowser, typeKey, visit } from './visit.js';

const MAXIMUM_BYTES = 70_000;

/** With `PUBLIC_URL`, the samples use this URL. The console uses the origin of the page, and says so. */
export async function publicUrl({ context }) {
  const server = await startServer({ PUBLIC_URL: 'https://pets.example.org/shop' });
  await visit(context, server.origin, {}, async (page) => {
    const list = operation(page, 'list-pets');
    assert.match(await list.sample.textContent(), /'https:\/\/pets\.example\.org\/shop\/v1\/pets'/);
    assert.match(await page.locator('#overview').textContent(), /https:\/\/pets\.example\.org\/shop\/v1/);
    assert.match(await list.form.textContent(), new RegExp(`to ${server.origin}/v1$`));
    await typeKey(page, server.key);
    assert.match(await list.send(), /^200 /);
  });
}

/** The page says that it waits for the document, and that it has none. */
export function noDocument({ context, server }) {
  const prepare = (page) =>
    page.route('**/openapi.json', async (route) => {
      await page.getByText('Loading…').waitFor();
      await route.fulfill({ status: 503, body: '{}' });
    });
  return visit(context, server.origin, { prepare }, async (page) => {
    assert.match(await page.getByRole('alert').textContent(), /responded with 503/);
  });
}

/** Without JavaScript, the page links to the document. */
export async function noScript({ server }) {
  const { context, close } = await startBrowser({ javaScriptEnabled: false });
  onTestFinished(close);
  const page = await context.newPage();
  await page.goto(`${server.origin}/docs`);
  await page.getByRole('link', { name: 'OpenAPI document' }).click();
  assert.equal(page.url(), `${server.origin}/openapi.json`);
}

/** With an empty cache, the page is small. */
export async function coldStart({ context, server }) {
  let bytes = 0;
  const prepare = async (page) => {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
  };
  await visit(context, server.origin, { prepare }, async (page) => {
    await page.locator('nav a').first().waitFor();
    await page.waitForLoadState('networkidle');
    assert.ok(bytes > 10_000 && bytes <= MAXIMUM_BYTES, `${bytes} bytes`);
  });
}

/** In browsers from before 2025, a reviver of `JSON.parse` gets no source text. The consoles are exact there too. */
export function olderBrowser({ context, server }) {
  const prepare = (page) =>
    page.addInitScript(() => {
      const { parse } = JSON;
      JSON.parse = (text, reviver) =>
        parse(text, reviver && ((key, value) => reviver.call(undefined, key, value)));
      delete JSON.rawJSON;
      delete JSON.isRawJSON;
    });
  return consoles({ context, server }, prepare);
}
