/** Tests the reference page in a real browser, as a person uses it. Exits with 1 on a failure. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startServer } from './server.js';

const LARGE = '9007199254740993';
const SCREENSHOTS = fileURLToPath(new URL('screenshots/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };
const SCHEMES = ['light', 'dark'];

if (!existsSync(CHROMIUM)) {
  console.error(`browser: there is no ${CHROMIUM}: apt-get install chromium, or set CHROMIUM`);
  process.exit(1);
}

const server = await startServer();
const profile = mkdtempSync(join(tmpdir(), 'animal-store-chromium-'));
mkdirSync(SCREENSHOTS, { recursive: true });
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: CHROMIUM,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  await story();
  for (const [name, size] of Object.entries(SIZES)) {
    for (const scheme of SCHEMES) await look(name, size, scheme);
  }
  console.log(`browser: all is well; screenshots in ${SCREENSHOTS}`);
} finally {
  await browser.close();
  await server.stop();
  rmSync(profile, { recursive: true, force: true });
}

/** Opens a page, and collects its errors. */
async function open(size, scheme) {
  const page = await browser.newPage();
  const faults = [];
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: scheme });
  page.on('console', (message) => {
    const expected = /^Failed to load resource: .* 401 /.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !expected) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`page: ${error}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== server.origin) {
      faults.push(`a request to ${url.origin}`);
    }
  });
  await page.exposeFunction('reportViolation', (text) => faults.push(`CSP: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  const response = await page.goto(`${server.origin}/docs`);
  assert.equal(response.status(), 200);
  await page.locator('.opblock').first().waitFor();
  return { page, faults };
}

async function story() {
  const { page, faults } = await open(SIZES.desktop, 'light');
  assert.equal(await page.title(), 'Animal Store API');
  assert.equal(await page.locator('.opblock').count(), 3);
  assert.match(await page.locator('.introduction').textContent(), new RegExp(`${server.origin}/v1/pets`));

  await authorize(page, 'not-a-key-that-anybody-was-ever-given');
  assert.match(await run(page, 'listPets'), /"code": "unauthorized"/);
  assert.equal(await statusOf(page, 'listPets'), '401');

  await authorize(page, server.key);
  const body = `{"name":"Минька 🐈","categoryId":${LARGE},"status":"pending"}`;
  const created = await run(page, 'createPet', (operation) =>
    operation.locator('textarea').first().fill(body),
  );
  assert.equal(await statusOf(page, 'createPet'), '201');
  assert.match(created, new RegExp(`"categoryId": ${LARGE}\\b`), 'the response is shown digit for digit');
  const stored = await fetch(`${server.origin}/v1/pets`, {
    headers: { Authorization: `Bearer ${server.key}` },
  });
  assert.match(await stored.text(), new RegExp(`"categoryId":${LARGE},`), 'and was sent digit for digit');

  assert.match(await run(page, 'listPets'), new RegExp(`"categoryId": ${LARGE}\\b`));
  assert.equal(await statusOf(page, 'listPets'), '200');

  const petId = (value) => (operation) => operation.locator('input[placeholder*="petId"]').fill(value);
  assert.match(await run(page, 'getPet', petId('1')), new RegExp(`"categoryId": ${LARGE}\\b`));
  assert.equal(await statusOf(page, 'getPet'), '200');
  assert.match(await run(page, 'getPet', petId(LARGE)), new RegExp(`there is no pet with id ${LARGE}\\b`));
  assert.equal(await statusOf(page, 'getPet'), '404');

  await page.screenshot({ path: join(SCREENSHOTS, 'story.png'), fullPage: true });
  const unexpected = faults.filter((fault) => !/^console: Failed to load resource: .* 404 /.test(fault));
  assert.deepEqual(unexpected, []);
  console.log('browser: authorised, created, listed, got, 401 and 404 shown, integers exact');
  await page.close();
}

async function look(name, size, scheme) {
  const { page, faults } = await open(size, scheme);
  await page.screenshot({ path: join(SCREENSHOTS, `${name}-${scheme}-top.png`) });
  await checkAccessibility(page, `${name} ${scheme}`);
  for (const id of ['listPets', 'createPet', 'getPet']) await expand(page, id);
  await page.locator('.models').scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(SCREENSHOTS, `${name}-${scheme}.png`), fullPage: true });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${name}: the page is ${overflow} px too wide`);
  await checkAccessibility(page, `${name} ${scheme}, all open`);
  await checkKeyboard(page);
  assert.deepEqual(faults, []);
  console.log(`browser: ${name} ${scheme}: no overflow, no serious axe violation, works by keyboard`);
  await page.close();
}

async function checkAccessibility(page, where) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('\n  ')}`,
    );
  assert.deepEqual(serious, [], where);
}

/** Opens an operation with only Tab and Enter. */
async function checkKeyboard(page) {
  await page.reload();
  await page.locator('.opblock').first().waitFor();
  const isOnOperation = () => Boolean(document.activeElement?.closest('.opblock-summary'));
  for (let presses = 0; presses < 40 && !(await page.evaluate(isOnOperation)); presses += 1) {
    await page.keyboard.press('Tab');
  }
  assert.ok(await page.evaluate(isOnOperation), 'Tab reaches an operation');
  await page.keyboard.press('Enter');
  await page.locator('.opblock.is-open').first().waitFor();
}

async function authorize(page, key) {
  await page.locator('.auth-wrapper .authorize').first().click();
  const dialog = page.locator('.modal-ux');
  const logout = dialog.getByRole('button', { name: /remove authorization|logout/i });
  if (await logout.count()) await logout.first().click();
  await dialog.locator('input').fill(key);
  await dialog.getByRole('button', { name: /apply credentials|^authorize$/i }).click();
  await dialog.locator('.btn-done').click();
}

async function expand(page, id) {
  const operation = page.locator(`#operations-pets-${id}`);
  const control = operation.locator('.opblock-summary-control');
  if ((await control.getAttribute('aria-expanded')) === 'false') await control.click();
  await operation.locator('.execute').waitFor();
  return operation;
}

/** Executes an operation and returns the body that the page shows. */
async function run(page, id, fill = async () => {}) {
  const operation = await expand(page, id);
  await fill(operation);
  const clear = operation.locator('.btn-clear');
  if (await clear.count()) await clear.click();
  await operation.locator('.execute').click();
  const live = operation.locator('.live-responses-table');
  await live.waitFor();
  return live.locator('.response-col_description .highlight-code').first().textContent();
}

async function statusOf(page, id) {
  const status = page.locator(`#operations-pets-${id} .live-responses-table tbody .response-col_status`);
  return (await status.first().textContent()).match(/\d+/)?.[0];
}
