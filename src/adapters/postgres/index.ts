/** `animal-store/postgres`: the storage in PostgreSQL, for Node.js. Needs the package `pg`. */

export { examinePostgresStore } from './examination.ts';
export { openPostgresStorage, type PostgresOptions } from './storage.ts';
