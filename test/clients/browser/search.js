/** The search over everything on the page, and the highlight where a link lands. */

import assert from 'node:assert/strict';
import { visit } from './visit.js';

/** The search finds rows, fields and errors. It works with the keyboard alone. */
export async function search({ context, server }) {
  await visit(context, server.origin, {}, async (page) => {
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const input = dialog.getByRole('combobox');
    const options = dialog.getByRole('option');
    const titles = () => options.locator('strong').allTextContents();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('413');
    assert.deepEqual((await titles()).slice(0, 2), ['413 payload_too_large', 'payload_too_large 413']);
    assert.equal(await options.nth(1).locator('mark').first().textContent(), '413');
    assert.equal(await dialog.getByRole('status').textContent(), `${await options.count()} found`);
    await page.keyboard.press('ArrowDown');
    assert.equal(await options.nth(1).getAttribute('aria-selected'), 'true');
    assert.equal(await input.getAttribute('aria-activedescendant'), 'result-1');
    await page.keyboard.press('Enter');
    assert.equal(await dialog.isVisible(), false);
    assert.match(page.url(), /#what-do-errors-look-like-payload-too-large$/);
    assert.equal(await isInView(page, '#what-do-errors-look-like-payload-too-large'), true);
    assert.equal(await page.locator('tr.is-landed:focus').count(), 1);

    await page.keyboard.press('Control+k');
    await input.fill('422 conflict');
    await page.keyboard.press('ArrowUp');
    await options.first().click();
    assert.match(page.url(), /#create-pet-response-422$/);
    assert.equal(await page.locator('.is-landed:focus').count(), 1);
    const error = page.locator('.failures .is-landed, li.is-landed');
    assert.match(await error.textContent(), /"code": "idempotency_conflict"/);
    assert.equal(await error.locator('pre').isVisible(), true, 'the error is unfolded');

    await page.getByRole('button', { name: 'Search' }).click();
    await input.fill('page size');
    assert.ok((await titles()).includes('limit'));
    await input.fill('list pets');
    assert.equal(
      await options.first().textContent(),
      'List petsGET /pets',
      'the route is found with its heading',
    );
    await input.fill('a');
    assert.match(await dialog.getByRole('status').textContent(), /^\d+ found, 30 shown$/);
    assert.equal(await options.count(), 30);
    await input.fill('no such word');
    assert.equal(await options.count(), 0);
    assert.equal(await dialog.getByRole('status').textContent(), '0 found: try fewer or other words');
    await page.keyboard.press('Escape');
    assert.equal(await dialog.isVisible(), false);
    await page.keyboard.press('/');
    assert.equal(await dialog.isVisible(), false, 'no character alone is a shortcut');
  });
}

function isInView(page, selector) {
  return page.locator(selector).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}
