/** Tests the reference page in a real browser, as a person uses it, and the client of the API. Prints one line per check; exits with 1 on a failure. */

import { join } from 'node:path';
import { consoles, contents, deepLinks, keyboard, samples } from './browser/checks.js';
import { clientInPage } from './browser/client.js';
import { coldStart, noDocument, noScript, publicUrl } from './browser/environment.js';
import { lostConnection } from './browser/lost-connection.js';
import { prints, remembers, tables } from './browser/reading.js';
import { runSamples } from './browser/run-samples.js';
import { search } from './browser/search.js';
import {
  checkAccessibility,
  checkWidth,
  DESKTOP,
  LAPTOP,
  operation,
  PHONE,
  SCREENSHOTS,
  startBrowser,
  typeKey,
  visit,
  WIDE,
} from './browser/visit.js';
import { startServer } from './server.js';

const server = await startServer();
// The page remembers choices in the profile of its browser, so each color scheme has a browser of its own.
const [light, dark] = await Promise.all([startBrowser(), startBrowser()]);
let failures = 0;
try {
  await check('the page is small and fast', coldStart);
  await check('the consoles send and show exact integers', consoles);
  await check('the contents are those of the document', contents);
  await check('every link has a target, and the page shows the target of its URL', deepLinks);
  await check('samples can be copied, and show the key only when asked', samples);
  await check('every sample runs', runSamples);
  await check('the client of the API runs in a page of another origin', clientInPage);
  await check('the page works with the keyboard', keyboard);
  await check('the search finds every part of the page', search);
  await check('a lost create can be repeated', lostConnection);
  await check('the theme and the language are remembered', remembers);
  await check('the page can be printed', prints);
  await check('tables can be read on a phone', tables);
  await check('the samples use the public URL', publicUrl);
  await check('a missing document is reported', noDocument);
  await check('the document is linked for readers without JavaScript', noScript);
  for (const [name, size] of Object.entries({ desktop: DESKTOP, laptop: LAPTOP, wide: WIDE, phone: PHONE })) {
    await Promise.all(
      Object.entries({ light, dark }).map(([scheme, browser]) =>
        check(`${name}, ${scheme}: axe finds nothing in any state`, () => look(browser, name, size, scheme)),
      ),
    );
  }
} finally {
  await Promise.all([light.close(), dark.close()]);
  await server.stop();
}
console.log(
  failures === 0 ? `browser: all is well; screenshots in ${SCREENSHOTS}` : `browser: ${failures} FAILED`,
);
process.exitCode = failures === 0 ? 0 : 1;

async function check(name, what) {
  try {
    await what({ context: light.context, server });
    console.log(`ok      ${name}`);
  } catch (error) {
    failures += 1;
    console.error(`FAILED  ${name}\n${error.stack}`);
  }
}

/** Examines the page with axe on load, opened, executed, with the key shown, with the menu, and with the search. */
function look({ context }, name, size, scheme) {
  return visit(context, server.origin, { size, scheme }, async (page) => {
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
    for (const summary of await page.locator('main summary').all()) await summary.click();
    await examine('opened');
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
  });
}
