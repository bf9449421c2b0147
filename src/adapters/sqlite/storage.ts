import type { Storage } from '../../application/ports.ts';
import { SqliteApiKeyRepository } from './api-key-repository.ts';
import { backUp } from './backup.ts';
import { openReader, prepareDatabase } from './database.ts';
import { Health, type OnStateChange } from './health.ts';
import { SqlitePetRepository } from './pet-repository.ts';
import { SqlitePetTransfer } from './pet-transfer.ts';
import { ReadSnapshot } from './read-snapshot.ts';
import { Readiness } from './readiness.ts';
import { filesOf } from './store-files.ts';
import { Writer } from './writer.ts';

export type { OnStateChange } from './health.ts';

/** How much of a storage is wanted. */
export interface SqliteOptions {
  /** Whether a missing file is refused rather than made. Default: false. */
  readonly mustExist?: boolean;
  /** Whether to make ready for writing at once rather than with the first write. Default: true. */
  readonly startWriter?: boolean;
  /** Called with a fault when the storage cannot serve any more, and without one when it can again. */
  readonly onStateChange?: OnStateChange | undefined;
}

/**
 * Opens the store in a SQLite file, and makes it when it is missing.
 * Throws `storage_unavailable`, naming the file, when it is not ours, damaged, newer than this release or not writable.
 */
export function openSqliteStorage(
  path: string,
  { mustExist = false, startWriter = true, onStateChange }: SqliteOptions = {},
): Storage {
  prepareDatabase(path, { mustExist, tryWrite: startWriter });
  const db = openReader(path);
  const health = new Health(filesOf(path), onStateChange);
  const snapshot = new ReadSnapshot(db, health);
  const writer = new Writer(health, () => snapshot.leave());
  const readiness = new Readiness(health, writer);
  if (startWriter) writer.start();
  return {
    pets: new SqlitePetRepository(db, snapshot, writer),
    apiKeys: new SqliteApiKeyRepository(db, snapshot, writer),
    transfer: new SqlitePetTransfer(path, health, () => snapshot.leave()),
    backup: (file, options) => backUp(path, file, options),
    async check() {
      try {
        snapshot.enter();
      } catch (error) {
        throw snapshot.readFailed(error, () => {});
      }
      await readiness.check();
    },
    async close() {
      await writer.close();
      snapshot.leave();
      db.close();
    },
  };
}
