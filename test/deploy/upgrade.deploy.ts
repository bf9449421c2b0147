/** Upgrading and going back, as `docs/deploy.md` says, with the real command. */

import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Workspace } from '../e2e/workspace.ts';
import { createOlderStore } from '../support/older-store.ts'; // only this project

const REX = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}\n';

function execute(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

// only this project: from here
/** The schema versions of the releases 1.0 and 2.0. */
const RELEASED = [1, 3];
// only this project: to here

/** Returns the schema version of a store. */
function versionOf(path: string): number {
  const database = new Database(path, { readonly: true });
  const version = database.pragma('user_version', { simple: true });
  database.close();
  return Number(version);
}

/** Resolves with the schema version of this release. */
async function currentVersion(): Promise<number> {
  const work = new Workspace();
  await work.createKey();
  return versionOf(work.store);
}

// only this project: from here
test('the first start of a release brings a store of each older schema version up to date', async () => {
  const current = await currentVersion();
  for (const version of RELEASED) {
    const work = new Workspace();
    createOlderStore(work.store, version).close();
    const server = await work.serve();
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(await work.output('export')).toBe(REX);
    const { database } = JSON.parse(await work.output('doctor', '--json')) as { database: unknown };
    expect(database).toMatchObject({ schemaVersion: current, isSound: true });
  }
});
// only this project: to here

test('a release refuses a store of a newer one and does not change it; the backup from before works', async () => {
  const current = await currentVersion();
  const work = new Workspace();
  await work.createKey();
  await work.run(['import', '-'], REX);
  await work.output('backup', 'before.db');
  execute(work.store, `PRAGMA user_version = ${current + 1}; ALTER TABLE pets ADD COLUMN owner TEXT;`);
  const before = readFileSync(work.store);
  await expect(work.serve()).rejects.toThrow(
    `schema version ${current + 1}, this release supports ${current}`,
  );
  expect(readFileSync(work.store).equals(before)).toBe(true);
  await work.output('restore', '--force', 'before.db');
  expect(await work.output('export')).toBe(REX);
});
