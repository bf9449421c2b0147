/** The databases that several servers or processes can share. */

import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { temporaryFolder } from '../support/process.ts';
import { storeOf } from './commands.ts';

interface SharedStore {
  readonly name: string;
  readonly canRun: boolean;
  newUrl(): Promise<string>;
}

export const STORES: readonly SharedStore[] = [
  { name: 'one SQLite file', newUrl: async () => storeOf(temporaryFolder()), canRun: true },
  { name: `PostgreSQL${postgresNote}`, newUrl: newDatabaseUrl, canRun: canRunPostgres },
];
