import { resolve } from 'node:path';
import type { Storage } from '../../application/ports/storage.ts';
import type { Engine } from './engine.ts';
import { refuse } from './refuse.ts';

/** Matches paths that would open an unexpected file, such as `~/pets.db`: `~` and variables in a path are not expanded. */
const MISTAKEN = /^$|^:memory:$|^\/\/(?!\/)|^[~$]|\?|^file:/;

const load = () => import('../../adapters/sqlite/index.ts');

/** The engine for SQLite. Its adapter is loaded when a database is used. */
export const sqlite: Engine<Storage> = {
  schemes: ['sqlite'],
  usage: 'sqlite:PATH',
  driver: 'better-sqlite3',
  isDurable: true,
  parse(path) {
    if (!MISTAKEN.test(path)) return path;
    const expected = 'sqlite:PATH, such as sqlite:./pets.db or sqlite:/var/lib/pets.db';
    return refuse(`${expected}, without host, parameters, ~ and variables`, `sqlite:${path}`);
  },
  // The path is absolute, because the reader of a message may not know the working directory of the process.
  placeOf: (path) => resolve(path),
  async open(path, { forCommand = false, migration, mustExist = false, readOnly = false, observer }) {
    const { openSqliteStorage } = await load();
    const how = { mustExist, startWriter: !forCommand, readOnly, migration, observer };
    return openSqliteStorage(path, how);
  },
  examine: async (path) => (await load()).examineSqliteStore(path),
  restore: async (path, file, options) => (await load()).restoreSqliteStore(path, file, options),
  examineBackup: async (path, file) => (await load()).examineSqliteBackup(path, file),
};
