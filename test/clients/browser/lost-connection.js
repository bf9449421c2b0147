/** The console when a response is lost, and its keys. */

import assert from 'node:assert/strict';
import { wholeJson } from '../../support/pets.ts';
import { operation, typeKey, visit } from './visit.js';

/** The console says what is known of a lost create, or of one with a 503. A repetition with the same key stores nothing twice. */
export function lostConnection({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    const keys = [];
    const refuse = (code) => ({ status: 503, json: { code, message: 'busy', status: 503 } });
    const faults = [refuse('overloaded'), refuse('storage_unavailable')];
    let isLost = true;
    await page.route('**/v1/pets*', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (!isLost) return route.continue();
      if (route.request().method() === 'POST' && faults.length > 0) return route.fulfill(faults.shift());
      // The server has handled the request when the connection is lost.
      await route.fetch();
      await route.abort('connectionreset');
    });
    await typeKey(page, server.key);
    const create = operation(page, 'create-pet');
    const list = operation(page, 'list-pets');
    await create.field('body').fill(wholeJson('{"name":"lost and found","categoryId":77}'));
    const details = create.section.locator('.response-details');
    assert.match(await create.send(), /^503 /);
    assert.doesNotMatch(await details.textContent(), /The outcome is unknown/);
    const repeat = details.getByRole('button', { name: 'Repeat with the same key' });
    for (const [send, status] of [
      [create.send, /^503 /],
      [() => repeat.click(), /^No response: the server cannot be reached/],
      [create.send, /^No response: the server cannot be reached/],
    ]) {
      await send();
      await create.status.filter({ hasText: status }).waitFor();
      assert.match(await details.textContent(), /The outcome is unknown/);
      assert.ok((await details.textContent()).includes(keys[0]));
    }
    assert.match(await list.send(), /^No response: /);
    assert.match(await list.section.locator('.response-details').textContent(), /Nothing was changed/);

    isLost = false;
    await list.section.getByRole('button', { name: 'Repeat' }).click();
    await list.status.filter({ hasText: /^200 / }).waitFor();
    await repeat.click();
    await create.status.filter({ hasText: /^201 .*, replayed: this key was used before, in / }).waitFor();
    await details.locator('summary').click();
    assert.match(await details.textContent(), /idempotency-replayed: true/);
    const stored = await page.request.get(`${server.origin}/v1/pets?limit=100`, {
      headers: { Authorization: `Bearer ${server.key}` },
    });
    assert.equal((await stored.text()).split('lost and found').length - 1, 1);

    await create.field('body').press('Control+Enter');
    await create.status.filter({ hasText: /^201 \w+ in / }).waitFor();
    const created = keys.filter((key) => key !== undefined);
    assert.equal(created.length, 6);
    const another = created.pop();
    assert.deepEqual(
      new Set(created),
      new Set([keys[0]]),
      'an unchanged request has the same key until it succeeds',
    );
    assert.notEqual(another, keys[0], 'another request has another key');

    await create.field('Idempotency-Key').fill('my-key');
    await create.send();
    assert.equal(keys.at(-1), 'my-key');
  });
}
