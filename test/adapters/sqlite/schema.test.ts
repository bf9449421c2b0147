/** Stores of each schema version, which its own migrations have made. */

import { describe, expect, test } from 'vitest';
import {
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { addPet, createOlderStore, DAY, VERSIONS } from '../../support/older-store.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

const REX_OF_OLD = { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' } as const;

describe.each(VERSIONS)('a store with schema version %i', (version) => {
  test('is examined, and migrated: nothing is lost, and a retried create is replayed', async () => {
    const path = temporaryFile();
    createOlderStore(path, version).close();
    const known = { schemaVersion: version, supportedSchemaVersion: SCHEMA_VERSION, pets: 1, lastId: 5n };
    expect(examineSqliteStore(path)).toMatchObject({ ...known, isSound: true, problems: [] });
    const { pets, apiKeys, idempotentCreates } = openStorage(path);
    expect((await pets.list({ limit: 2 })).pets).toMatchObject([REX_OF_OLD]);
    const reader = version < 5 ? [] : [{ name: 'reader', isReadOnly: true }];
    expect(await apiKeys.list()).toMatchObject([{ name: 'old', isReadOnly: false }, ...reader]);
    if (version >= 2) {
      const attempt = { caller: '1', key: 'key', at: 11 * DAY, validUntil: 12 * DAY };
      expect(await idempotentCreates.add(REX, attempt)).toMatchObject({ pet: REX_OF_OLD, isReplay: true });
      const late = await idempotentCreates.add(REX, { ...attempt, at: 11 * DAY + 1 });
      expect(late).toMatchObject({ pet: { id: 6n }, isReplay: false });
    } else expect((await pets.add(REX)).id).toBe(6n);
    // 1.0, 2.0 and the builds after it refuse this version.
    expect(examineSqliteStore(path)).toMatchObject({ schemaVersion: SCHEMA_VERSION, problems: [] });
  });

  test('is opened when a backup of it was restored', async () => {
    const [path, backup] = [temporaryFile(), temporaryFile()];
    const db = createOlderStore(backup, version);
    db.pragma('journal_mode = DELETE');
    db.close();
    await restoreSqliteStore(path, backup);
    expect((await openStorage(path).pets.list({ limit: 2 })).pets).toMatchObject([REX_OF_OLD]);
  });

  test('keeps pets that broke a rule before: they are read as stored, and named', async () => {
    const path = temporaryFile();
    const db = createOlderStore(path, version);
    addPet(db, { id: 3n, name: '' });
    addPet(db, { id: 4n, status: 'lost' });
    db.exec(`PRAGMA ignore_check_constraints = ON; ALTER TABLE pets ADD COLUMN colour TEXT;
      UPDATE pets SET colour = 'red'`);
    db.close();
    const named = [
      { message: expect.stringContaining('pet 3 was') },
      { message: expect.stringContaining('pet 4 was') },
    ];
    expect(examineSqliteStore(path).problems).toMatchObject(named);
    const storage = openSqliteStorage(path);
    expect(await storage.pets.find(3n)).toMatchObject({ name: '' });
    expect((await storage.pets.add(REX)).id).toBe(6n);
    await storage.close();
    expect(examineSqliteStore(path)).toMatchObject({ isSound: true, pets: 4, problems: named });
    await openStorage(path).pets.add(REX);
    expect(connect(path).prepare('SELECT count(*) FROM pets WHERE colour IS NOT NULL').pluck().get()).toBe(
      3n,
    );
  });
});
