/** What the page remembers of its reader, and what it prints. */

import assert from 'node:assert/strict';
import { onTestFinished } from 'vitest';
import { operation, PHONE, startBrowser, visit } from './visit.js';

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
    const row = page.locator('#what-do-errors-look-like-payload-too-large');
    const [first, second] = await row
      .locator('td')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
    assert.ok(first < second, 'the cells are below each other');
    const table = page.locator('#what-do-errors-look-like').getByRole('table');
    assert.ok((await table.getByRole('row').count()) > 10);
    assert.equal(await table.evaluate((element) => element.scrollWidth <= element.clientWidth), true);
  });
}

/** A tab for each status shows what the response means and an example. A link leads to the tab that it needs. */
export function responses({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const create = page.locator('#create-pet .responses');
    const panel = create.locator('[role=tabpanel]:not([hidden])');
    const statuses = await create.getByRole('tab').allTextContents();
    assert.deepEqual(statuses.slice(0, 4), ['201', '400', '401', '403']);
    assert.match(await panel.textContent(), /The pet was created\..*"categoryId": 7/s);
    await create.getByRole('tab', { name: '403' }).click();
    assert.match(await panel.textContent(), /403 forbidden.*read-only.*"code": "forbidden"/s);
    await create.getByRole('tab', { name: '403' }).press('End');
    assert.match(await panel.textContent(), /503 overloaded.*Nothing was stored.*503 storage_unavailable/s);
    await page.evaluate(() => {
      location.hash = '#create-pet-response-422';
    });
    await panel.filter({ hasText: 'idempotency_conflict' }).waitFor();
    assert.equal(await create.getByRole('tab', { name: '422' }).getAttribute('aria-selected'), 'true');
    assert.equal(await page.locator('#list-pets .responses [aria-selected=true]').textContent(), '200');
  });
}

/** The shortcut is shown where there is a keyboard. The source of a key stands beside its field. */
export async function fields({ server }) {
  for (const hasTouch of [false, true]) {
    const { context, close } = await startBrowser({ hasTouch, isMobile: hasTouch });
    onTestFinished(close);
    await visit(context, server.origin, { size: hasTouch ? PHONE : undefined }, async (page) => {
      const form = operation(page, 'create-pet').form;
      assert.equal(await form.getByText('Ctrl Enter').isVisible(), !hasTouch);
      const key = form.getByLabel('API key');
      const source = page.locator(`#${await key.getAttribute('aria-describedby')}`);
      assert.match(await source.textContent(), /animal-store keys create/);
      assert.equal(await key.getAttribute('placeholder'), 'pets_...');
    });
  }
}
