import { resolve } from 'node:path';
import type { Engine } from './engine.ts';
import { refuse } from './refuse.ts';

/** Paths that lead to another file than their author expects: no shell replaces `~` and variables. */
const MISTAKEN = /^$|^:memory:$|^\/\/(?!\/)|^[~$]|\?|^file:/;

export const sqlite: Engine = {
  schemes: ['sqlite'],
  usage: 'sqlite:PATH',
  driver: 'better-sqlite3',
  isDurable: true,
  parse(path) {
    if (!MISTAKEN.test(path)) return path;
    const expected = 'sqlite:PATH, such as sqlite:./pets.db or sqlite:/var/lib/pets.db';
    return refuse(`${expected}, without host, parameters, ~ and variables`, `sqlite:${path}`);
  },
  // Who reads a hint can be in another folder.
  placeOf: (path) => resolve(path),
  async load() {
    const { examineSqliteBackup, examineSqliteStore, openSqliteStorage, restoreSqliteStore } = await import(
      '../../adapters/sqlite/index.ts'
    );
    return {
      open: (path, { forCommand = false, mustExist = false, readOnly = false, observer }) =>
        openSqliteStorage(path, { mustExist, startWriter: !forCommand, readOnly, observer }),
      restore: restoreSqliteStore,
      examine: examineSqliteStore,
      examineBackup: examineSqliteBackup,
    };
  },
};
