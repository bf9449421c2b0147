import type { Storage } from '../../application/ports.ts';
import { SqliteApiKeyRepository } from './api-key-repository.ts';
import { openReader, prepareDatabase } from './database.ts';
import { storageError } from './errors.ts';
import { SqlitePetRepository } from './pet-repository.ts';
import { ReadSnapshot } from './read-snapshot.ts';
import { Writer } from './writer.ts';

/**
 * Opens the store in a SQLite file, and makes it when it is missing.
 * Throws `storage_unavailable`, naming the file, when it is not ours, damaged, newer than this release or not writable.
 */
export function openSqliteStorage(path: string): Storage {
  prepareDatabase(path);
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db);
  const writer = new Writer(path, () => snapshot.leave());
  return {
    pets: new SqlitePetRepository(db, snapshot, writer),
    apiKeys: new SqliteApiKeyRepository(db, snapshot, writer),
    async check() {
      try {
        snapshot.enter();
      } catch (error) {
        throw storageError(error);
      }
    },
    async close() {
      await writer.close();
      snapshot.leave();
      db.close();
    },
  };
}
