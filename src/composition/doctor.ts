/** Examines the store and the settings of a server, and names the problems that an operator should solve. */

import type { DoctorReport } from '../adapters/cli/index.ts';
import { supported } from '../application/arguments.ts';
import type { Problem } from '../application/ports/maintenance.ts';
import type { Environment } from './config/settings.ts';
import { ANY_STORE, loadClient, loadConfig, loadDatabase, shownSettings } from './config.ts';
import { callEngine } from './databases/database.ts';

/** Changes nothing, and creates no store. */
export async function diagnose(
  environment: Environment,
  databaseUrl?: string,
  backup?: string,
): Promise<DoctorReport> {
  const faults = new Set<string>();
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      for (const line of (error as Error).message.split('\n')) faults.add(line);
      return undefined;
    }
  };
  const database = await attempt(() => loadDatabase(environment, databaseUrl));
  // If the database URL is the address of a server, the server settings in this environment have no effect.
  const isLocal = !database?.engine.isRemote;
  const config = isLocal ? await attempt(() => loadConfig(environment, ANY_STORE)) : undefined;
  const diagnosis =
    database &&
    (await attempt(() => {
      const client = loadClient(environment, database);
      return callEngine(database, (engine, location) => engine.examine(location, client));
    }));
  const contents =
    database && backup !== undefined
      ? await attempt(() =>
          callEngine(database, async (engine, location) =>
            supported(engine.examineBackup, 'backup')(location, backup),
          ),
        )
      : undefined;
  const errors = Array.from(faults, (message): Problem => ({ severity: 'error', message }));
  const warnings = (config?.misspellings ?? []).map((message): Problem => ({ severity: 'warning', message }));
  const { problems: ofStore, ...facts } = diagnosis ?? { problems: [] };
  const { problems: ofBackup, ...copied } = contents ?? { problems: [] };
  const { source, scheme } = database ?? {};
  return {
    node: process.version,
    settings: isLocal ? shownSettings(environment) : [],
    problems: [...errors, ...warnings, ...ofStore, ...ofBackup],
    database: diagnosis ? { source, scheme, ...facts } : null,
    backup: contents ? { file: backup, ...copied } : null,
  };
}
