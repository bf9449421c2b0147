/** Opens the reference page in a real browser, and collects everything that must not happen there. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGUMENTS = (
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync'
).split(' ');

/** Starts the browser with an empty profile. */
export async function startBrowser(options = {}) {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`there is no ${CHROMIUM}: apt-get install chromium, or set CHROMIUM`);
  }
  mkdirSync(SCREENSHOTS, { recursive: true });
  const profile = mkdtempSync(join(tmpdir(), 'animal-store-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: ARGUMENTS,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, close };
}

/**
 * Opens the page, runs `what` with it, and fails on a fault: a message in the console, an uncaught error, a violation of
 * the content security policy, or a request to another origin.
 */
export async function visit(context, origin, options, what) {
  const { size = DESKTOP, scheme = 'light', fragment = '', prepare = async () => {} } = options;
  const page = await context.newPage();
  const faults = [];
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: scheme });
  page.on('console', (message) => {
    // Chromium reports each response with an error status.
    if (!message.text().startsWith('Failed to load resource:')) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`page: ${error}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin) faults.push(`a request to ${url.origin}`);
  });
  await page.exposeFunction('reportViolation', (text) => faults.push(`CSP: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  // The page remembers choices of the reader. Each visit begins without any, and keeps them when it reloads.
  await page.addInitScript(() => {
    if (sessionStorage.getItem('visited') === null) localStorage.clear();
    sessionStorage.setItem('visited', 'yes');
  });
  await prepare(page);
  await page.goto(`${origin}/docs${fragment}`);
  await page.locator('main h1').waitFor();
  try {
    await what(page);
    assert.deepEqual(faults, []);
  } catch (error) {
    await page.screenshot({ path: join(SCREENSHOTS, 'failed.png') });
    throw error;
  } finally {
    await page.close();
  }
}

/** Fails when axe finds a violation of any impact. */
export async function checkAccessibility(page, where) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  const found = violations.map(
    ({ id, impact, nodes }) =>
      `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('\n  ')}`,
  );
  assert.deepEqual(found, [], where);
}

/** Fails when the page is wider than the window, or a line of code than its block. */
export async function checkWidth(page, where) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${where}: the page is ${overflow} px too wide`);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('pre')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ textContent }) => textContent),
  );
  assert.deepEqual(cut, [], `${where}: lines are cut off`);
}

/** The console, the samples and the response of one operation. */
export function operation(page, slug) {
  const section = page.locator(`#${slug}`);
  return {
    section,
    form: section.locator('form.console'),
    sample: section.locator('.operation-aside [role=tabpanel]'),
    status: section.getByRole('status'),
    response: section.locator('.response-details pre').first(),
    field: (name) => section.locator(`form.console [name="${name}"]`),
    tab: (name) => section.getByRole('tab', { name }),
    copy: section.locator('.operation-aside > .code').first().getByRole('button', { name: /^Copy/ }),
    /** Sends the request, and returns the status line. */
    async send() {
      await section.getByRole('button', { name: 'Send request' }).click();
      const status = section.getByRole('status');
      await status.filter({ hasText: / ms$|Not sent|No response/ }).waitFor();
      return (await status.textContent()) ?? '';
    },
  };
}

/** Types the API key into the first field for it. */
export async function typeKey(page, key) {
  await page.getByLabel('API key').first().fill(key);
}
