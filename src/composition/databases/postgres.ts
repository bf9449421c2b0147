import { locationOf, parsePostgresUrl } from '../../adapters/postgres/url/index.ts';
import type { Engine } from './engine.ts';

export const postgres: Engine = {
  // PostgreSQL's own programs accept both.
  schemes: ['postgres', 'postgresql'],
  usage: 'postgres://HOST/DATABASE',
  driver: 'pg',
  ownTools: { backup: 'pg_dump', restore: 'pg_restore' },
  isDurable: true,
  parse(rest) {
    const url = `postgres:${rest}`;
    parsePostgresUrl(url);
    return url;
  },
  placeOf: locationOf,
  addressOf: () => 'postgres:',
  async load() {
    const { examinePostgresStore, openPostgresStorage } = await import('../../adapters/postgres/index.ts');
    return {
      open: (url, { mustExist = false, observer }) => openPostgresStorage(url, { mustExist, observer }),
      examine: examinePostgresStore,
    };
  },
};
