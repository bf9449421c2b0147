import { resolve } from 'node:path';
import type { Engine } from './engine.ts';
import { refuse } from './refuse.ts';

/** Paths that lead to another file than their author expects. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'the path is missing'],
  [/^:memory:$/, 'a store in memory is memory:'],
  [/^\/\/(?!\/)/, 'there is no host, so // has no meaning'],
  [/^~|^\$/, 'no shell replaces ~ and variables'],
  [/\?/, 'there are no parameters'],
  [/^file:/, 'a path without file:'],
];

export const sqlite: Engine = {
  schemes: ['sqlite'],
  usage: 'sqlite:PATH',
  driver: 'better-sqlite3',
  isDurable: true,
  parse(path) {
    const reason = FAULTS.find(([pattern]) => pattern.test(path))?.[1];
    if (reason === undefined) return path;
    return refuse(
      `sqlite:PATH, such as sqlite:./pets.db or sqlite:/var/lib/pets.db (${reason})`,
      `sqlite:${path}`,
    );
  },
  placeOf: (path) => resolve(path),
  // The user can be in another folder.
  addressOf: (path) => `sqlite:${resolve(path)}`,
  async load() {
    const { databaseFiles, examineSqliteBackup, examineSqliteStore, openSqliteStorage, restoreSqliteStore } =
      await import('../../adapters/sqlite/index.ts');
    return {
      open: (path, { forCommand = false, mustExist = false, readOnly = false, observer }) =>
        openSqliteStorage(path, { mustExist, startWriter: !forCommand, readOnly, observer }),
      files: databaseFiles,
      restore: restoreSqliteStore,
      examine: examineSqliteStore,
      examineBackup: examineSqliteBackup,
    };
  },
};
