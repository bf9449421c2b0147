import type { Storage } from '../../application/ports.ts';
import { SqliteApiKeyRepository } from './api-key-repository.ts';
import { backUp } from './backup.ts';
import { openReader, prepareDatabase } from './database.ts';
import { storageError } from './errors.ts';
import { SqlitePetRepository } from './pet-repository.ts';
import { SqlitePetTransfer } from './pet-transfer.ts';
import { ReadSnapshot } from './read-snapshot.ts';
import { Writer } from './writer.ts';

/** How much of a storage is wanted. */
export interface SqliteOptions {
  /** Whether a missing file is refused rather than made. Default: false. */
  readonly mustExist?: boolean;
  /** Whether to make ready for writing at once rather than with the first write. Default: true. */
  readonly startWriter?: boolean;
}

/**
 * Opens the store in a SQLite file, and makes it when it is missing.
 * Throws `storage_unavailable`, naming the file, when it is not ours, damaged, newer than this release or not writable.
 */
export function openSqliteStorage(
  path: string,
  { mustExist = false, startWriter = true }: SqliteOptions = {},
): Storage {
  prepareDatabase(path, { mustExist, tryWrite: startWriter });
  const db = openReader(path);
  const snapshot = new ReadSnapshot(db);
  const writer = new Writer(path, () => snapshot.leave());
  if (startWriter) writer.start();
  return {
    pets: new SqlitePetRepository(db, snapshot, writer),
    apiKeys: new SqliteApiKeyRepository(db, snapshot, writer),
    transfer: new SqlitePetTransfer(path, () => snapshot.leave()),
    backup: (file, options) => backUp(path, file, options),
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
