import { locationOf, parsePostgresUrl } from '../../adapters/postgres/url/index.ts';
import type { Storage } from '../../application/ports/storage.ts';
import type { Engine } from './engine.ts';

const load = () => import('../../adapters/postgres/index.ts');

/** The engine for PostgreSQL. Its adapter is loaded when a database is opened or examined. */
export const postgres: Engine<Storage> = {
  // PostgreSQL programs accept both schemes.
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
  async open(url, { migration, mustExist = false, readOnly = false, observer, currentLocation: currentUrl }) {
    const { openPostgresStorage } = await load();
    return openPostgresStorage(url, { mustExist, readOnly, migration, observer, currentUrl });
  },
  examine: async (url) => (await load()).examinePostgresStore(url),
};
