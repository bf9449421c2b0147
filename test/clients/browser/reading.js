/** What the page remembers of its reader, and what it prints. */

import assert from 'node:assert/strict';
import { operation, PHONE, visit } from './visit.js';

/** The page remembers the theme and the language. */
export function remembers({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.getByLabel('Theme').selectOption('dark');
    const dark = await paper();
    assert.notEqual(dark, light);
    await operation(page, 'list-pets').tab('Python').click();
    await page.reload();
    await page.locator('main h1').waitFor();
    assert.equal(await paper(), dark);
    assert.equal(await page.getByLabel('Theme').inputValue(), 'dark');
    assert.match(await operation(page, 'list-pets').sample.textContent(), /^import json/);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByLabel('Theme').selectOption('light');
    assert.equal(await paper(), light);
  });
}

/** On paper there is the reference, and nothing to click. */
export function prints({ context, server }) {
  return visit(context, server.origin, { scheme: 'dark' }, async (page) => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const part of ['.sidebar', '#list-pets form', '#list-pets button']) {
      assert.equal(await page.locator(part).first().isVisible(), false, part);
    }
    assert.equal(
      await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      'rgb(255, 255, 255)',
    );
    assert.equal(await page.locator('main').evaluate((main) => main.getBoundingClientRect().left), 0);
    assert.equal(
      await page.locator('#create-pet .failures pre').first().isVisible(),
      true,
      'all is unfolded',
    );
  });
}

/** Each row of a table is a block on a phone, and still a row for a screen reader. */
export function tables({ context, server }) {
  return visit(context, server.origin, { size: PHONE }, async (page) => {
    const row = page.locator('#errors-payload-too-large');
    const [first, second] = await row
      .locator('td')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
    assert.ok(first < second, 'the cells are below each other');
    const table = page.locator('#errors').getByRole('table');
    assert.ok((await table.getByRole('row').count()) > 10);
    assert.equal(await table.evaluate((element) => element.scrollWidth <= element.clientWidth), true);
  });
}
