import type { Engine } from './engine.ts';

export const sqlite: Engine = {
  schemes: ['sqlite'],
  usage: 'sqlite:PATH',
  driver: 'better-sqlite3',
  isDurable: true,
  parse: (path) => (path === '' || path === ':memory:' ? undefined : path),
  async load() {
    const { databaseFiles, examineSqliteStore, openSqliteStorage, restoreSqliteStore } = await import(
      '../../adapters/sqlite/index.ts'
    );
    return {
      open: (path, { forCommand = false, mustExist = false, observer, sharing }) =>
        openSqliteStorage(path, {
          mustExist,
          startWriter: !forCommand,
          observer,
          sharing: sharing as NonNullable<Parameters<typeof openSqliteStorage>[1]>['sharing'],
        }),
      files: databaseFiles,
      restore: restoreSqliteStore,
      examine: examineSqliteStore,
    };
  },
};
