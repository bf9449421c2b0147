/** The actions of a reader on the reference page. Each function is one check. */

import assert from 'node:assert/strict';
import { wholeJson } from '../../support/pets.ts';
import { DESKTOP, operation, PHONE, typeKey, visit } from './visit.js';

export const LARGE = '9007199254740993';
const PETS = wholeJson(`{"name":"Минька 🐈","categoryId":${LARGE},"status":"pending"}`);
const LANGUAGES = ['curl', 'JavaScript', 'fetch', 'Python', 'Go'];

/** Sends requests with the consoles. Large integers are sent and shown exactly. */
export function consoles({ context, server }, prepare) {
  return visit(context, server.origin, { prepare }, async (page) => {
    const list = operation(page, 'list-pets');
    const create = operation(page, 'create-pet');
    const get = operation(page, 'get-pet');
    assert.match(await list.send(), /^401 /);
    await typeKey(page, 'not-a-key-that-anybody-was-ever-given');
    assert.match(await list.send(), /^401 /);
    assert.match(await list.response.textContent(), /"code": "unauthorized"/);

    await typeKey(page, server.key);
    await create.field('body').fill(PETS);
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST'),
      create.send(),
    ]);
    assert.equal(sent.postData(), PETS, 'the body is sent as it was typed');
    assert.match(await create.status.textContent(), /^201 /);
    assert.match(await create.response.textContent(), new RegExp(`"categoryId": ${LARGE}\\b`));
    await create.field('body').fill(wholeJson('{"name":"Rex","categoryId":1e0}'));
    await create.send();
    await create.field('body').fill('{"name":""');
    assert.match(await create.send(), /^400 /);

    await list.field('limit').fill('1');
    assert.match(await list.send(), /^200 /);
    assert.match(await list.response.textContent(), new RegExp(`"categoryId": ${LARGE}\\b`));
    await list.section.getByRole('button', { name: 'Next page' }).press('Enter');
    await page.waitForFunction(() =>
      document.querySelector('#list-pets .operation-aside [role=tabpanel]')?.textContent.includes('after=1'),
    );
    await list.response.filter({ hasText: '"Rex"' }).waitFor();
    assert.equal(await list.section.getByRole('button', { name: 'Next page' }).count(), 0);
    assert.equal(await list.section.locator(':focus').count(), 1, 'the focus stays in the section');
    await list.field('limit').fill('0');
    assert.match(await list.send(), /^400 /);

    await get.field('petId').fill('1');
    assert.match(await get.send(), /^200 /);
    await get.field('petId').fill('');
    assert.match(await get.send(), /^Not sent: /);
    assert.equal(await get.response.count(), 0, 'a request that is not sent leaves no earlier response');
    await get.field('petId').fill('1');
    assert.match(await get.send(), /^200 /);
    await get.section.locator('.response-details summary').click();
    assert.match(await get.section.locator('.response-details').textContent(), /sunset: Thu, 05 Dec 2030/);
    await get.field('petId').fill(LARGE);
    assert.match(await get.send(), /^404 /);
    assert.match(await get.response.textContent(), new RegExp(`no pet with id ${LARGE}\\b`));

    await typeKey(page, `Bearer ${server.key}`);
    assert.equal(await page.getByLabel('API key').first().inputValue(), server.key);
    await typeKey(page, 'nö €');
    assert.match(await list.send(), /^Not sent: Authorization contains “€”/);
  });
}

/** No integer of the document is rounded, and the operations can be seen at once. */
export function contents({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const text = await page.locator('main').textContent();
    for (const exact of [LARGE, '-9223372036854775808 to 9223372036854775807'])
      assert.ok(text.includes(exact));
    assert.doesNotMatch(text, /740992|775807\d|6000|<!--/);
    await page.getByRole('region', { name: 'Table: What do errors look like?' }).first().waitFor();
    const body = operation(page, 'create-pet').form.getByRole('textbox', {
      name: 'Request body',
      exact: true,
    });
    assert.equal(await body.count(), 1);
    assert.equal(await page.getByText('deprecated, removal on 5 Dec 2030').count(), 2);
    assert.match(await page.locator('#guides > p').textContent(), /ANIMAL_STORE_URL.*ANIMAL_STORE_KEY/s);
    const link = page.getByRole('link', { name: /change a pet|changes a pet|response was lost/ });
    assert.equal(
      await link.count(),
      0,
      'the guide of an absent operation is hidden, and no link leads to it',
    );
    // The manual of the client is not on the page, but the client is.
    const client = page.locator('a[href="docs/animal-store-client.js"]');
    assert.ok((await client.count()) > 0);
    const code = await (await fetch(await client.first().evaluate((link) => link.href))).text();
    const { createAnimalStore } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const store = await createAnimalStore({ database: `${server.origin}/v1`, apiKey: server.key });
    const methods = /Methods: ([^.]*)/.exec(code)[1].match(/[a-z]+[A-Z]\w+/g);
    assert.ok(methods.length > 5);
    for (const method of methods) assert.equal(typeof store[method], 'function', method);
    const { bottom } = await page.locator('.operation-list').evaluate((list) => list.getBoundingClientRect());
    assert.equal(await page.locator('.operation-list li').count(), 3);
    assert.ok(bottom < DESKTOP.height, `the list of the operations ends at ${bottom} px`);
  });
}

/** Every link to a part of the page has a target, and the page shows the target of its URL. */
export async function deepLinks({ context, server }) {
  let fragments = [];
  await visit(context, server.origin, {}, async (page) => {
    const targets = await page.$$eval('a[href^="#"]', (links) =>
      links.map((link) => link.getAttribute('href')),
    );
    for (const target of new Set(targets)) assert.equal(await page.locator(target).count(), 1, target);
    fragments = await page.$$eval('nav a', (links) => links.map((link) => link.getAttribute('href')));
    for (const name of '#list-pets #create-pet #get-pet #what-is-a-pet #what-do-errors-look-like'.split(' '))
      assert.ok(fragments.includes(name), name);
  });
  await visit(context, server.origin, { fragment: '#create-pet-response-422' }, async (page) => {
    /** Scrolls further when the page has shown a section, and returns the position. */
    const readFurther = async (section) => {
      await page.locator(`${section} .is-landed`).first().waitFor();
      await page.evaluate(() => scrollBy(0, 333));
      await page.waitForFunction(() => history.state === scrollY);
      return page.evaluate(() => scrollY);
    };
    const isAt = (y) => page.waitForFunction((at) => scrollY === at, y, { timeout: 3000 });
    const first = await readFurther('#create-pet');
    await page.locator('nav a[href="#list-pets"]').click();
    const second = await readFurther('#list-pets');
    assert.notEqual(second, first);
    for (const move of [
      () => page.reload(),
      () => page.goto(`${server.origin}/livez`).then(() => page.goBack()),
    ]) {
      await move();
      await isAt(second);
    }
    await page.goBack();
    await isAt(first);
  });
  for (const fragment of [...fragments, '#schemas', '#what-do-errors-look-like-not-found'])
    await visit(context, server.origin, { fragment, size: PHONE }, async (page) => {
      const isShown = () => {
        const { top } = document.querySelector(location.hash).getBoundingClientRect();
        const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
        return top > 40 && (top < 120 || (isAtEnd && top < innerHeight));
      };
      await page.waitForFunction(isShown, undefined, { timeout: 3000 });
    });
}

/** The samples follow the console. They show the key only after the reader asks, and copying copies what is shown. */
export function samples({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const key = 'pets_0123456789';
    const list = operation(page, 'list-pets');
    const pasted = () => page.evaluate(() => navigator.clipboard.readText());
    const show = list.form.getByRole('button', { name: 'Show key' });
    assert.equal(await show.isVisible(), false, 'without a key there is nothing to show');
    await typeKey(page, key);
    await list.field('limit').fill('7');
    for (const isShown of [false, true]) {
      if (isShown) await show.click();
      for (const language of LANGUAGES) {
        await list.tab(language).click();
        const text = await list.sample.textContent();
        assert.match(text, language === 'JavaScript' ? /listPage\(\{ limit: 7 \}\)/ : /pets\?limit=7/);
        assert.equal(text.includes(key), isShown, language);
        assert.equal(
          await operation(page, 'get-pet')
            .sample.textContent()
            .then((other) => other.includes(key)),
          isShown,
        );
        await list.copy.click();
        assert.equal(await pasted(), text, 'the copy is the text that is shown');
      }
      const types = await page
        .getByLabel('API key')
        .evaluateAll((fields) =>
          fields.filter((field) => field.matches('input')).map((field) => `${field.type} ${field.value}`),
        );
      assert.deepEqual(
        types,
        Array.from({ length: 4 }, () => `${isShown ? 'text' : 'password'} ${key}`),
      );
    }
    await list.form.getByRole('button', { name: 'Hide key' }).click();
    assert.equal((await list.sample.textContent()).includes(key), false);
    const stored = await page.evaluate(() =>
      JSON.stringify([localStorage, sessionStorage, document.cookie, location]),
    );
    assert.equal(stored.includes(key), false);
    assert.deepEqual(await context.cookies(), []);
    await page.reload();
    assert.equal(await page.getByLabel('API key').first().inputValue(), '');
  });
}

/** The page works without a mouse. */
export async function keyboard({ context, server }) {
  await visit(context, server.origin, {}, async (page) => {
    const focused = (selector) => page.evaluate((text) => document.activeElement.matches(text), selector);
    const tabTo = async (selector) => {
      for (let presses = 0; presses < 80 && !(await focused(selector)); presses += 1) {
        await page.keyboard.press('Tab');
        const hidden = await page.evaluate(() => {
          const { id, offsetWidth, offsetHeight, outerHTML, hidden } = document.activeElement;
          return hidden || offsetWidth * offsetHeight === 0 ? id || outerHTML : undefined;
        });
        assert.equal(hidden, undefined, 'the focus is on a hidden element');
      }
      assert.ok(await focused(selector), `Tab reaches ${selector}`);
    };
    await page.keyboard.press('Tab');
    assert.ok(await focused('.skip'));
    await page.keyboard.press('Enter');
    assert.ok(await focused('main'));
    assert.equal(await page.locator('.is-landed').count(), 0, 'the whole content is not highlighted');
    await tabTo('#list-pets .operation-aside [role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    assert.match(
      await page.locator('#create-pet .operation-aside [role=tabpanel]').textContent(),
      /createAnimalStore/,
    );
    await tabTo('#list-pets input[name=limit]');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.locator('#list-pets [role=status]').filter({ hasText: /^401 / }).waitFor();
  });
  await visit(context, server.origin, { fragment: '#get-pet' }, async (page) => {
    await page.locator('#get-pet .is-landed:focus').waitFor({ timeout: 3000 });
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('#get-pet :focus').count(), 1, 'Tab continues where the link leads');
    await page.locator('nav a[href="#create-pet"]').press('Enter');
    await page.locator('#create-pet .is-landed:focus').waitFor({ timeout: 3000 });
    for (const [language, selector] of [
      ['Go', '#get-pet-sample[tabindex="0"]'],
      ['curl', '#get-pet-sample[tabindex="-1"]'],
    ]) {
      await operation(page, 'get-pet').tab(language).click();
      // Tab stops at code only if it can be scrolled.
      await page.locator(selector).waitFor({ timeout: 3000 });
    }
  });
  await visit(context, server.origin, { size: { width: 320, height: 600 } }, async (page) => {
    const { height } = await page.locator('.sidebar').boundingBox();
    assert.ok(height < 56, `the header covers ${height} px, more than the scroll padding`);
  });
  await visit(context, server.origin, { size: PHONE }, async (page) => {
    const navigation = page.getByRole('navigation');
    const menu = page.getByRole('button', { name: 'Menu' });
    await menu.press('Enter');
    await navigation.getByRole('link', { name: 'What do errors look like?' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await navigation.isVisible(), false);
    await menu.press('Enter');
    await navigation.getByRole('link', { name: 'What do errors look like?' }).press('Enter');
    assert.equal(await navigation.isVisible(), false);
    assert.match(page.url(), /#what-do-errors-look-like$/);
    await menu.press('Enter');
    await navigation.getByLabel('Theme').press('Tab');
    assert.equal(await navigation.isVisible(), false, 'the menu does not cover the focus');
  });
}
