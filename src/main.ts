/** The process: arguments, signals, exit status. */

import { readFileSync } from 'node:fs';
import { consoleOf } from './adapters/cli/console.ts';
import { explain, isBrokenPipe } from './adapters/cli/errors.ts';
import { runCli } from './adapters/cli/program.ts';
import { type Environment, loadConfig } from './composition/config.ts';
import { openApiDocumentOf } from './composition/openapi.ts';
import { openLastingStorage } from './composition/storage.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** How long a server that has stopped waits for the readers of its standard streams, in milliseconds. */
const EXIT_TIMEOUT = 500;

const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());

/** A server goes on without its standard streams. Elsewhere a closed pipe is no failure, and a full disk is one. */
let isServer = false;
process.stderr.on('error', (error) => {
  if (!isServer && !isBrokenPipe(error)) process.exit(1);
});
process.stdout.on('error', (error) => {
  if (isBrokenPipe(error)) return;
  if (isServer) {
    process.stderr.write(`animal-store: standard output cannot be written: ${error.message}\n`);
    return;
  }
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});

/** The server is loaded on use: no other command needs it. */
process.exitCode = await runCli(process.argv.slice(2), {
  version,
  console: consoleOf(process),
  signal: end.signal,
  startService: async (databaseUrl) => {
    isServer = true;
    const config = loadConfig(environmentWith(databaseUrl));
    const { startService } = await import('./composition/service.ts');
    return startService(config, version);
  },
  openStorage: (databaseUrl, { mustExist }) => {
    const { DATABASE_URL, DATABASE_URL_FILE } = environmentWith(databaseUrl);
    return openLastingStorage(loadConfig({ DATABASE_URL, DATABASE_URL_FILE }).database, mustExist);
  },
  openApiDocument: async () => openApiDocumentOf(loadConfig(process.env)),
});

/** What a server could not write to a standard stream would keep it alive. */
if (isServer) setTimeout(() => process.exit(), EXIT_TIMEOUT).unref();

function environmentWith(databaseUrl: string | undefined): Environment {
  return databaseUrl === undefined
    ? process.env
    : { ...process.env, DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' };
}
