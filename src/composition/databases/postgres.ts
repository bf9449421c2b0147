import type { Engine } from './engine.ts';

/** Matches `//`, a user if there is one, and an empty host: the socket is in the query of the URL. */
const EMPTY_HOST = /^\/\/([^/?]*@)?(?=[/?])/;

/** The database engine for URLs such as `postgres://user@host/database`. The tables are created by default. */
function postgresEngine(scheme: string): Engine {
  return {
    scheme,
    usage: 'postgres://HOST/DATABASE',
    driver: 'pg',
    ownTools: { backup: 'pg_dump', restore: 'pg_restore' },
    isDurable: true,
    parse(rest) {
      const isUrl = URL.canParse(`postgres:${rest.replace(EMPTY_HOST, '//$1localhost')}`);
      return isUrl && /^\/\/./.test(rest) ? `postgres:${rest}` : undefined;
    },
    async load() {
      const { examinePostgresStore, openPostgresStorage } = await import('../../adapters/postgres/index.ts');
      return {
        open: (url, { mustExist, observer }) =>
          openPostgresStorage(url, { mustExist: mustExist ?? false, observer }),
        files: () => [],
        examine: examinePostgresStore,
      };
    },
  };
}

/** The two schemes that PostgreSQL's own programs accept. */
export const postgres: Engine = postgresEngine('postgres');
export const postgresql: Engine = postgresEngine('postgresql');
