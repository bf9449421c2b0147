/** The experimental operations have their marker, and a change is sent with the version of the pet in the last response. */

import assert from 'node:assert/strict';
import { withRequired } from '../../support/pets.ts';
import { startServer } from '../server.js';
import { operation, typeKey, visit } from './visit.js';

export async function changes({ context }) {
  const server = await startServer({ EXPERIMENTAL: 'on' });
  await visit(context, server.origin, {}, (page) => check(page, server));
}

async function check(page, { key, origin }) {
  const change = operation(page, 'change-pet');
  const remove = operation(page, 'remove-pet');
  const list = operation(page, 'list-changes');
  for (const { section } of [change, remove, list])
    assert.equal(await section.locator('.badge-stability').textContent(), 'experimental');
  await page.getByRole('navigation').getByRole('link', { name: 'What if the response was lost?' }).waitFor();
  await typeKey(page, key);
  await operation(page, 'create-pet').send();
  const tag = await change.field('If-Match').inputValue();
  assert.match(tag, /^"[\w-]+"$/, 'the tag of the create is filled in');
  assert.equal(await remove.field('If-Match').inputValue(), tag);
  await change.tab('curl').click();
  assert.ok((await change.sample.textContent()).includes(`If-Match: ${tag}`));

  await change.field('body').fill('{"name":"Tom"}');
  assert.match(await change.send(), /^200 /);
  assert.notEqual(await change.field('If-Match').inputValue(), tag, 'the tag of the change is filled in');

  await change.field('If-Match').fill('*');
  assert.match(await change.send(), /^200 /);
  await change.field('If-Match').fill('');
  assert.match(await change.send(), /^Not sent/, 'one click is enough, and a removed tag stays removed');
  await change.field('body').fill('{"name":"Tim"}');
  assert.equal(await change.field('If-Match').inputValue(), '', 'only a response or the id fills in a tag');
  await operation(page, 'get-pet').send();
  const changed = await change.field('If-Match').inputValue();
  assert.match(changed, /^"[\w-]+"$/, 'the tag of a response is filled in');

  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'If-Match': '*' };
  const body = JSON.stringify({ name: withRequired({ name: 'somebody else' }).name });
  assert.equal((await fetch(`${origin}/v1/pets/1`, { method: 'PATCH', headers, body })).status, 200);
  await change.field('If-Match').fill('');
  assert.equal(await change.field('If-Match').inputValue(), '', 'the reader can clear the tag');
  await change.field('petId').fill(' 1 ');
  assert.equal(await change.field('If-Match').inputValue(), changed, 'the id fills in an empty tag');
  await change.field('If-Match').fill('typed');
  await change.field('If-Match').press('Enter');
  assert.match(await change.field('If-Match').evaluate((field) => field.validationMessage), /format/);
  await change.field('If-Match').fill('"typed"');
  await change.field('body').fill('{"name":"Kim"}');
  assert.match(await change.send(), /^412 /);
  assert.match(
    await change.section.locator('.response-details').textContent(),
    /the pet has changed since .* perhaps by an earlier request of yours/,
  );
  assert.equal(await change.field('If-Match').inputValue(), '', 'the tag of an older version is removed');
  assert.match(await list.send(), /^200 /);
  assert.match(await change.field('If-Match').inputValue(), /^"[\w-]+"$/);
  assert.notEqual(await change.field('If-Match').inputValue(), changed, 'the tag of the feed is filled in');
  assert.match(await change.send(), /^200 /);
  await remove.form.getByLabel('API key').press('Enter');
  assert.equal(await remove.status.textContent(), '', 'Enter after the key sends nothing');
  assert.match(await remove.send(), /^204/);
  assert.equal(await remove.field('If-Match').inputValue(), '', 'a removed pet has no tag');
}
