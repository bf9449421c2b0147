/** Registers the contract suites of `src/testing`, which contain the assertions, on SQLite. */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { testReusedStores } from '../../support/reused-stores.ts';
import { execute } from './temporary-file.ts';

const TABLES = ['pets', 'pet_revisions', 'api_keys', 'idempotency_records', 'sqlite_sequence'];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

testReusedStores('on SQLite', {
  newPlace: () => join(folder, `${randomUUID()}.db`),
  open: (path, existing) => openSqliteStorage(path, { startWriter: existing === undefined }),
  execute,
  emptying: TABLES.map((table) => `DELETE FROM ${table};`).join(''),
  recordEnd: 'valid_until',
  async openBackup(path) {
    const storage = openSqliteStorage(path, { startWriter: false });
    return { port: storage, close: () => storage.close() };
  },
});
