/** The search over everything on the page, and the highlight where a link lands. */

import assert from 'node:assert/strict';
import { PHONE, visit } from './visit.js';

/** The search finds rows, fields and errors. It works with the keyboard alone. */
export async function search({ context, server }) {
  await visit(context, server.origin, {}, async (page) => {
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const input = dialog.getByRole('combobox');
    const options = dialog.getByRole('option');
    const titles = () => options.locator('strong').allTextContents();
    await page.keyboard.press('/');
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
    assert.equal(await page.locator('tr.is-landed').count(), 1);

    await page.keyboard.press('Control+k');
    await input.fill('422 conflict');
    await page.keyboard.press('ArrowUp');
    await options.first().click();
    assert.match(page.url(), /#create-pet-response-422$/);
    const error = page.locator('.failures .is-landed, li.is-landed');
    assert.match(await error.textContent(), /"code": "idempotency_conflict"/);
    assert.equal(await error.locator('pre').isVisible(), true, 'the error is unfolded');

    await page.getByRole('button', { name: 'Search' }).click();
    for (const [query, expected] of [
      ['idempotency-key', 'Idempotency-Key'],
      ['if-none-match', 'ETag'],
      ['categoryid', 'categoryId'],
      ['page size', 'limit'],
      ['copy in sync', 'How do I keep a copy in sync?'],
    ]) {
      await input.fill(query);
      assert.ok((await titles()).includes(expected), `${query}: ${await titles()}`);
    }
    await input.fill('retry');
    assert.deepEqual((await titles()).slice(0, 1), ['When do I retry?']);
    const shown = await options.allTextContents();
    assert.equal(new Set(shown).size, shown.length, 'nothing is found twice');
    await input.fill('list pets');
    assert.equal(
      await options.first().textContent(),
      'List petsGET /pets',
      'the route is found with its heading',
    );
    await input.fill('get /pets/{petid}');
    assert.ok((await titles()).slice(0, 3).includes('Get a pet'));
    await input.fill('a');
    assert.match(await dialog.getByRole('status').textContent(), /^\d+ found, 30 shown$/);
    assert.equal(await options.count(), 30);
    await input.fill('no such word');
    assert.equal(await options.count(), 0);
    assert.equal(await dialog.getByRole('status').textContent(), '0 found');
    await page.keyboard.press('Escape');
    assert.equal(await dialog.isVisible(), false);

    await page.locator('#list-pets input[name=limit]').focus();
    await page.keyboard.press('/');
    assert.equal(await dialog.isVisible(), false, 'a slash can be typed');
  });
  await visit(
    context,
    server.origin,
    { size: PHONE, fragment: '#what-do-errors-look-like-not-found' },
    async (page) => {
      assert.equal(await page.locator('#what-do-errors-look-like-not-found.is-landed').count(), 1);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('dialog').getByRole('combobox').fill('large integers');
      await page.keyboard.press('Enter');
      assert.match(page.url(), /#how-do-i-read-large-integers-exactly$/);
      assert.equal(
        await page.locator('.heading.is-landed').textContent(),
        'How do I read large integers exactly?#',
      );
      await page.goBack();
      await page.locator('#what-do-errors-look-like-not-found.is-landed').waitFor();
    },
  );
}

function isInView(page, selector) {
  return page.locator(selector).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}
