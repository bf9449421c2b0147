/** Upgrading and going back, as `docs/deploy.md` says, with the real command. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SCHEMA_VERSION } from '../../src/adapters/sqlite/schema.ts';
import { Workspace } from '../e2e/workspace.ts';
import { createStoreOf30, insertPetOf30 } from '../support/older-store.ts';
import { wholeJson } from '../support/pets.ts';
import { connect } from '../support/sqlite.ts';

const REX = wholeJson('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}\n');

test('the first start of a release migrates a store of 3.0', async () => {
  const work = new Workspace();
  createStoreOf30(work.store).exec(insertPetOf30(1n)).close();
  const server = await work.serve();
  expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  expect(await work.output('export')).toMatch(
    /^{"id":1,"name":"Rex","categoryId":1,"status":"available".*}\n$/,
  );
  const { database } = JSON.parse(await work.output('doctor', '--json')) as { database: unknown };
  expect(database).toMatchObject({ schemaVersion: SCHEMA_VERSION, isSound: true });
});

test('a release refuses a store of a newer one and does not change it; the backup from before works', async () => {
  const work = new Workspace();
  await work.createKey();
  await work.run(['import', '-'], REX);
  await work.output('backup', 'before.db');
  connect(work.store)
    .exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; ALTER TABLE pets ADD COLUMN owner TEXT;`)
    .close();
  const before = readFileSync(work.store);
  await expect(work.serve()).rejects.toThrow(
    `schema version ${SCHEMA_VERSION + 1}, this release supports ${SCHEMA_VERSION}`,
  );
  expect(readFileSync(work.store).equals(before)).toBe(true);
  await work.output('restore', '--force', 'before.db');
  expect(await work.output('export')).toBe(REX);
});
