/** Upgrading and going back, as `docs/deploy.md` says, with the real command. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SCHEMA_VERSION } from '../../src/adapters/sqlite/schema.ts';
import { Workspace } from '../e2e/workspace.ts';
import { createOlderStore } from '../support/older-store.ts';
import { wholeJson } from '../support/pets.ts';
import { connect } from '../support/sqlite.ts';

const REX = wholeJson('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}\n');

/** The schema versions of the releases 1.0 and 2.0. */
const RELEASED = [1, 3];

test('the first start of a release brings a store of each older schema version up to date', async () => {
  for (const version of RELEASED) {
    const work = new Workspace();
    createOlderStore(work.store, version).close();
    const server = await work.serve();
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(await work.output('export')).toMatch(/^{"id":1,"name":"Rex","categoryId":7,"status":"sold".*}\n$/);
    const { database } = JSON.parse(await work.output('doctor', '--json')) as { database: unknown };
    expect(database).toMatchObject({ schemaVersion: SCHEMA_VERSION, isSound: true });
  }
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
