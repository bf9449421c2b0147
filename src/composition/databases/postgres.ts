import type { Engine } from './engine.ts';

/** Matches `//`, a user if there is one, and an empty host: the socket is in the query of the URL. */
const EMPTY_HOST = /^\/\/([^/?]*@)?(?=[/?])/;

export const postgres: Engine = {
  // PostgreSQL's own programs accept both.
  schemes: ['postgres', 'postgresql'],
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
      open: (url, { mustExist = false, observer, sharing }) =>
        openPostgresStorage(url, { mustExist, observer, threads: sharing?.threads ?? 1 }),
      examine: examinePostgresStore,
    };
  },
};
