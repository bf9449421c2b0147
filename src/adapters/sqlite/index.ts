/** `animal-store/sqlite`: the storage in a SQLite file, for Node.js. */

export { examineSqliteBackup, examineSqliteStore } from './examination.ts';
export { databaseFiles } from './files.ts';
export { restoreSqliteStore } from './restore.ts';
export { openSqliteStorage, type SqliteOptions } from './storage.ts';
