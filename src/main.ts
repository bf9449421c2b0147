/** The process: arguments, signals, exit status. */

import { readFileSync } from 'node:fs';
import { consoleOf } from './adapters/cli/console.ts';
import { runCli } from './adapters/cli/program.ts';
import { type DatabaseConfig, type Environment, loadConfig } from './composition/config.ts';
import { openApiDocumentOf } from './composition/openapi.ts';
import { openLastingStorage, storageFiles } from './composition/storage.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** How long a process that is done waits for the reader of its standard error, in milliseconds. */
const EXIT_TIMEOUT = 500;

const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());

/** The server is loaded on use: no other command needs it. */
const status = await runCli(process.argv.slice(2), {
  version,
  console: consoleOf(process),
  signal: end.signal,
  startService: async (databaseUrl) => {
    const config = loadConfig(environmentWith(databaseUrl));
    const { startService } = await import('./composition/service.ts');
    return startService(config, version);
  },
  openStorage: async (databaseUrl, { mustExist }) => openLastingStorage(databaseOf(databaseUrl), mustExist),
  storeFiles: async (databaseUrl) => storageFiles(databaseOf(databaseUrl)),
  openApiDocument: async () => openApiDocumentOf(loadConfig(process.env)),
});

// Whoever does not read what was written must not keep a command alive that was told to end.
if (end.signal.aborted) process.exit(status);
process.exitCode = status;
setTimeout(() => process.exit(), EXIT_TIMEOUT).unref();

/** The settings of a server are no concern of an errand. */
function databaseOf(databaseUrl: string | undefined): DatabaseConfig {
  const { DATABASE_URL, DATABASE_URL_FILE } = environmentWith(databaseUrl);
  return loadConfig({ DATABASE_URL, DATABASE_URL_FILE }).database;
}

function environmentWith(databaseUrl: string | undefined): Environment {
  return databaseUrl === undefined
    ? process.env
    : { ...process.env, DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' };
}
