/** Connects the commands of the command line with the parts of the program. */

import type { CliOptions, ServeValues } from '../adapters/cli/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import { ConfigError, type Environment } from './config/settings.ts';
import { describeSettings } from './config.ts';
import type { SelectedDatabase } from './databases/database.ts';
import type { OpenOptions, Work } from './databases/engine.ts';
import type { Service } from './serve.ts';

interface Commands extends Omit<CliOptions, 'version' | 'console' | 'signal'> {
  startService(values: ServeValues): Promise<Service>;
}

/** The imports are dynamic, because `--help` needs none of these modules. */
export function createCommands(
  environment: Environment,
  version: string,
  program = 'animal-store',
): Commands {
  const durableDatabase = async (url: string | undefined) => {
    const { loadDurableDatabase } = await import('./config.ts');
    return loadDurableDatabase(environment, url);
  };
  const open = async (database: SelectedDatabase, options: OpenOptions): Promise<AnimalStore> => {
    const { loadClient } = await import('./config.ts');
    const { AnimalStore } = await import('../application/animal-store.ts');
    const client = loadClient(environment, database);
    return new AnimalStore(await database.open({ ...options, forCommand: true, client }));
  };
  return {
    program,
    settings: describeSettings(),
    async startService(values) {
      const { loadConfig } = await import('./config.ts');
      const config = loadConfig(environment, values);
      const { startService } = await import('./serve.ts');
      return startService(config, version);
    },
    async openStore(databaseUrl, { mustExist, work }) {
      const database = await durableDatabase(databaseUrl);
      refuseWork(database, work);
      return open(database, { mustExist });
    },
    async openSource(address, databaseUrl) {
      const source = await sourceAt(address);
      if (source === undefined) return undefined;
      const target = await durableDatabase(databaseUrl);
      await refuseSame(source, target);
      const store = await open(source, { mustExist: true, readOnly: true });
      return { store, place: source.place };
    },
    async restoreStore(databaseUrl, file, options) {
      const database = await durableDatabase(databaseUrl);
      refuseWork(database, 'restore');
      return database.restore(file, options);
    },
    async diagnose(databaseUrl, backup) {
      const { diagnose } = await import('./doctor.ts');
      return diagnose(environment, databaseUrl, program, backup);
    },
    async openApiDocument() {
      const { loadConfig } = await import('./config.ts');
      const { http, host, port } = loadConfig(environment);
      const { openApiDocument } = await import('../adapters/http/portable.ts');
      const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      return openApiDocument(http.publicUrl ?? `http://${authority}`, { indent: 2 });
    },
  };
}

/** A storage that does not support the work of a command is a wrong setting, whatever the store contains. */
function refuseWork(database: SelectedDatabase, work: Work): void {
  asConfigError('', () => database.refuseWork(work));
}

/** Returns the database at the address, or `undefined` when the address is the path of a file. */
async function sourceAt(address: string): Promise<SelectedDatabase | undefined> {
  const { ENGINES } = await import('./databases/index.ts');
  const { parseDatabase } = await import('./databases/database.ts');
  const [scheme = ''] = address.split(':', 1);
  // A URL of a kind that is not supported must not be taken for a file, whose errors show the path.
  const isAddress =
    address.includes('://') ||
    ENGINES.some(({ schemes }) => address.includes(':') && schemes.includes(scheme));
  if (!isAddress) return undefined;
  const source = asConfigError('import: ', () => parseDatabase(ENGINES, address, 'import'));
  if (source.isDurable) return source;
  throw new ConfigError(`import: ${source.scheme}: has no pets, because its data ends with a process`);
}

/** A database file is recognized by any of its paths, and another database by its location. */
async function refuseSame(source: SelectedDatabase, target: SelectedDatabase): Promise<void> {
  const { statSync } = await import('node:fs');
  const identityOf = async (database: SelectedDatabase) => {
    const [file] = await database.files();
    const stats = file === undefined ? undefined : statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? `${database.scheme}:${database.place}` : `${stats.dev}:${stats.ino}`;
  };
  if ((await identityOf(source)) === (await identityOf(target)))
    throw new Error(`import: ${source.place} is the store itself: expected another store`);
}

function asConfigError<T>(prefix: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ConfigError(prefix + (error as Error).message);
  }
}
