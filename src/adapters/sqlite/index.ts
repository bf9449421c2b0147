/** `animal-store/sqlite`: the storage in a SQLite file, for Node.js. */

export { databaseFiles } from './files.ts';
export { examineSqliteBackup } from './maintenance/backup-check.ts';
export { examineSqliteStore } from './maintenance/examination.ts';
export { restoreSqliteStore } from './maintenance/restore.ts';
export { openSqliteStorage, type SqliteOptions } from './storage.ts';
