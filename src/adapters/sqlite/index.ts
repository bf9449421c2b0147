/** `animal-store/sqlite`: the storage in a SQLite file, for Node.js. */

export { databaseFiles } from './files.ts';
export { openSqliteStorage, type SqliteOptions } from './storage.ts';
