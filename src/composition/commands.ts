import type { CliOptions, ServeValues } from '../adapters/cli/index.ts';
import type { Environment } from './config/settings.ts';
import { describeSettings, type SettingDescription } from './config.ts';
import type { Service } from './serve.ts';

interface Commands extends Omit<CliOptions, 'version' | 'console' | 'signal'> {
  startService(values: ServeValues): Promise<Service>;
  /** The variables of `serve`, for its help. */
  readonly settings: readonly SettingDescription[];
}

/** The imports are dynamic, because `--help`, and a shell that completes a command line, need none of these modules. */
export function createCommands(
  environment: Environment,
  version: string,
  program = 'animal-store',
): Commands {
  const durableDatabase = async (url: string | undefined) => {
    const { loadDurableDatabase } = await import('./config.ts');
    return loadDurableDatabase(environment, url);
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
      database.refuseWork(work);
      const { loadClient } = await import('./config.ts');
      const { AnimalStore } = await import('../application/animal-store.ts');
      const client = loadClient(environment, database);
      return new AnimalStore(await database.open({ mustExist, forCommand: true, client }));
    },
    async isServer(databaseUrl) {
      return (await durableDatabase(databaseUrl)).isRemote;
    },
    async storeFiles(databaseUrl) {
      return (await durableDatabase(databaseUrl)).files();
    },
    async restoreStore(databaseUrl, file, options) {
      return (await durableDatabase(databaseUrl)).restore(file, options);
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
