/** The choices that the page remembers, and the responses that it shows. */

import assert from 'node:assert/strict';
import { operation, visit } from './visit.js';

/** The page remembers the theme and the language. */
export function remembers({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.setViewportSize({ width: 1280, height: 600 });
    const { y, height } = await page.getByLabel('Theme').boundingBox();
    assert.ok(y + height <= 600, 'the choice of the theme is cut off');
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

/** A running request can be seen, and an example replaces a typed body only if the reader agrees. */
export function consoleStates({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const { form, section, status, field } = operation(page, 'create-pet');
    const example = form.getByLabel('Example');
    const body = () => field('body').inputValue();
    const answers = [];
    page.on('dialog', (dialog) => (answers.shift() ? dialog.accept() : dialog.dismiss()));
    const first = await body();
    await example.selectOption({ index: 1 });
    assert.notEqual(await body(), first);
    await field('body').fill('mine');
    answers.push(false, true);
    await example.selectOption({ index: 0 });
    assert.equal(await body(), 'mine');
    assert.equal(await example.evaluate((select) => select.selectedIndex), 1);
    await example.selectOption({ index: 0 });
    assert.equal(await body(), first);

    let respond;
    await page.route('**/v1/pets', (route) => {
      respond = () => route.fulfill({ status: 500, body: '' });
    });
    const send = form.getByRole('button', { name: 'Send request' });
    await send.press('Enter');
    await section.locator('.response[aria-busy=true]').waitFor();
    assert.equal(await send.getAttribute('aria-disabled'), 'true');
    await respond();
    await status.filter({ hasText: /^500/ }).waitFor();
    assert.equal(await send.getAttribute('aria-disabled'), 'false');
  });
}
