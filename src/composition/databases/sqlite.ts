import type { Engine } from './engine.ts';

export const sqlite: Engine = {
  schemes: ['sqlite'],
  usage: 'sqlite:PATH',
  driver: 'better-sqlite3',
  isDurable: true,
  parse: (path) => (path === '' || path === ':memory:' ? undefined : path),
  async load() {
    const {
      databaseFiles,
      examineSqliteStore,
      openSharedSqliteStorage,
      openSqliteStorage,
      restoreSqliteStore,
    } = await import('../../adapters/sqlite/index.ts');
    return {
      open(path, { forCommand = false, mustExist = false, observer, sharing }) {
        const options = { mustExist, observer, startWriter: !forCommand };
        return sharing === undefined
          ? openSqliteStorage(path, options)
          : openSharedSqliteStorage(path, options, sharing as Parameters<typeof openSharedSqliteStorage>[2]);
      },
      files: databaseFiles,
      restore: restoreSqliteStore,
      examine: examineSqliteStore,
    };
  },
};
