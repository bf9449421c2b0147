import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import { identify } from '../../../src/adapters/sqlite/inspection.ts';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.ts';
import { temporaryFile } from './temporary-file.ts';

test('an empty file that another process migrates meanwhile is not the database of another application', () => {
  const path = temporaryFile();
  const db = new Database(path).defaultSafeIntegers(true);
  onTestFinished(() => void db.close());
  db.pragma('journal_mode = WAL');
  const pragma = db.pragma.bind(db);
  vi.spyOn(db, 'pragma').mockImplementationOnce((...args) => {
    const value = pragma(...args);
    prepareDatabase(path);
    return value;
  });
  expect(identify(db)).toEqual({ isNew: true, isOwn: false, version: 0 });
  expect(identify(db)).toEqual({ isNew: false, isOwn: true, version: MIGRATIONS.length });
});
