/** Tests the reference page in a real browser, as a person uses it, and the client of the API. */

import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest';
import { changes } from './browser/changes.js';
import { consoles, contents, deepLinks, keyboard, samples } from './browser/checks.js';
import { clientInPage } from './browser/client.js';
import { coldStart, noDocument, noScript, olderBrowser, publicUrl } from './browser/environment.js';
import { lostConnection } from './browser/lost-connection.js';
import { consoleStates, remembers, responses } from './browser/reading.js';
import { runSamples } from './browser/run-samples.js';
import { search } from './browser/search.js';
import {
  checkAccessibility,
  checkWidth,
  DESKTOP,
  operation,
  PHONE,
  SCREENSHOTS,
  startBrowser,
  typeKey,
  visit,
} from './browser/visit.js';
import { startServer } from './server.js';

let browser;
let server;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  server = await startServer();
});

test.each([
  ['the page is small', coldStart],
  ['the consoles send and show exact integers', consoles],
  ['the contents are exact, and the operations can be seen at once', contents],
  ['every link has a target, and the page shows the target of its URL', deepLinks],
  ['samples can be copied, and show the key only when asked', samples],
  ['changes are for the version in the last response', changes],
  ['every sample runs', runSamples],
  ['the client of the API runs in a page of another origin', clientInPage],
  ['the consoles are exact in an older browser', olderBrowser],
  ['the page works with the keyboard', keyboard],
  ['the search finds every part of the page', search],
  ['a lost create can be repeated', lostConnection],
  ['the theme and the language are remembered', remembers],
  ['the responses are tabs by status', responses],
  ['a running request can be seen, and a typed body is kept', consoleStates],
  ['the samples use the public URL', publicUrl],
  ['a missing document is reported', noDocument],
  ['the document is linked for readers without JavaScript', noScript],
])('%s', (_name, check) => check({ context: browser.context, server }));

/** On load, opened, executed, with the key shown, with the menu, and with the search. */
describe.each([
  ['desktop', DESKTOP],
  ['phone', PHONE],
])('axe finds nothing in any state: %s', (name, size) => {
  test.each(['light', 'dark'])('%s', (scheme) =>
    visit(browser.context, server.origin, { size, scheme }, async (page) => {
      const examine = async (state) => {
        const where = `${name}-${scheme}-${state}`;
        await page.screenshot({
          path: join(SCREENSHOTS, `${where}.png`),
          fullPage: !['loaded', 'menu', 'search'].includes(state),
        });
        await checkWidth(page, where);
        await checkAccessibility(page, where);
      };
      await examine('loaded');
      for (const summary of await page.locator('main summary:visible').all()) await summary.click();
      await examine('opened');
      for (const tab of await page.locator('.responses [role=tab]:last-child').all()) await tab.click();
      await examine('errors');
      await typeKey(page, server.key);
      for (const slug of ['list-pets', 'create-pet', 'get-pet']) await operation(page, slug).send();
      for (const summary of await page.locator('.response-details summary').all()) await summary.click();
      await page.getByRole('button', { name: 'Show key' }).first().click();
      for (const language of ['Go', 'Python', 'JavaScript']) {
        await operation(page, 'list-pets').tab(language).click();
        await examine(`executed-${language}`);
      }
      if (size === PHONE) await page.getByRole('button', { name: 'Menu' }).click();
      await examine('menu');
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').fill('pet');
      await examine('search');
    }),
  );
});
