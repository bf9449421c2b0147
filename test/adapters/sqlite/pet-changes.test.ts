/** Changes of pets in a SQLite store that other programs, commands and releases use, too. */

import { expect, test } from 'vitest';
import { examineSqliteStore, restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { ListChanges } from '../../../src/application/list-changes.ts';
import { testDatabase } from '../../support/database-tests.ts';
import { connect } from '../../support/sqlite.ts';
import { MAX, openStorage, REX, temporaryFile } from './temporary-file.ts';

testDatabase({
  async open() {
    const path = temporaryFile();
    const execute = (sql: string) => connect(path).exec(sql);
    return { storage: openStorage(path), execute, examine: () => examineSqliteStore(path) };
  },
  lastIdIs: (id) => `UPDATE sqlite_sequence SET seq = ${id} WHERE name = 'pets'`,
  dropping: (event) => `CREATE TRIGGER dropping BEFORE ${event} BEGIN SELECT RAISE(IGNORE); END`,
  endRecords: 'UPDATE idempotency_records SET valid_until = 1',
});

test('a follower is told of each restore, also of one backup twice, and no number is assigned again', async () => {
  const [path, backup] = [temporaryFile(), temporaryFile()];
  const before = openStorage(path);
  const pet = await before.pets.add(REX);
  await before.backup?.(backup);
  const revision = (await before.changes.replace({ ...pet, ...MAX }, pet.id)) ?? 0n;
  let { next } = await new ListChanges(before.changes).execute();
  await before.close();
  for (let restore = 0; restore < 2; restore += 1) {
    await restoreSqliteStore(path, backup, { overwrite: true });
    const storage = openStorage(path);
    const feed = new ListChanges(storage.changes);
    await expect(feed.execute({ after: next })).rejects.toMatchObject({ code: 'restart_required' });
    const added = await storage.pets.add(REX);
    expect(added.id > revision).toBe(true);
    const page = await feed.execute();
    expect(page.changes).toMatchObject([{ pet }, { pet: added }].slice(0, 2));
    next = page.next;
    await storage.close();
  }
});
