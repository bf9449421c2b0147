import type { Storage } from '../application/ports.ts';
import type { DatabaseConfig } from './config.ts';

/** Opens the storage adapter that the configuration names. Only its driver is loaded. */
export async function openStorage(database: DatabaseConfig): Promise<Storage> {
  switch (database.kind) {
    case 'memory':
      return (await import('../adapters/memory/storage.ts')).openMemoryStorage();
    case 'sqlite':
      return (await import('../adapters/sqlite/storage.ts')).openSqliteStorage(database.path);
  }
}
