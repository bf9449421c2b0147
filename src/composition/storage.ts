import type { Storage } from '../application/ports.ts';
import type { StorageFault } from '../application/storage-fault.ts';
import { ConfigError, type DatabaseConfig } from './config.ts';

/**
 * Opens the storage adapter that the configuration names. Only its driver is loaded.
 * @param onStateChange called with a fault when the storage cannot serve any more, and without one when it can again
 */
export async function openStorage(
  database: DatabaseConfig,
  onStateChange: (fault: StorageFault | undefined) => void,
): Promise<Storage> {
  switch (database.kind) {
    case 'memory':
      return (await import('../adapters/memory/storage.ts')).openMemoryStorage();
    case 'sqlite':
      return (await import('../adapters/sqlite/storage.ts')).openSqliteStorage(database.path, {
        onStateChange,
      });
  }
}

/** The files that a storage lives in, there or not. Opens nothing. */
export async function storageFiles(database: DatabaseConfig): Promise<readonly string[]> {
  switch (database.kind) {
    case 'memory':
      return [];
    case 'sqlite':
      return (await import('../adapters/sqlite/files.ts')).databaseFiles(database.path);
  }
}

/**
 * Opens a storage for one errand beside a server that may run on it. Rejects with a {@link ConfigError} for one that
 * would be gone after the errand, and with `storage_unavailable` for one that must exist and does not.
 */
export async function openLastingStorage(database: DatabaseConfig, mustExist: boolean): Promise<Storage> {
  switch (database.kind) {
    case 'memory':
      throw new ConfigError('DATABASE_URL: memory: keeps nothing beyond the command, so only serve takes it');
    case 'sqlite': {
      const { openSqliteStorage } = await import('../adapters/sqlite/storage.ts');
      return openSqliteStorage(database.path, { mustExist, startWriter: false });
    }
  }
}
