/**
 * The entry point of the program. Runs the command line, stops the command on SIGINT or SIGTERM, and sets the exit
 * status.
 */

import { readFileSync } from 'node:fs';
import { consoleOf, runCli } from './adapters/cli/index.ts';
import { openCommandStore, storeFilesOf } from './composition/command.ts';
import { loadConfig } from './composition/config.ts';
import { openApiDocumentOf } from './composition/openapi.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * The maximum time for which pending writes to standard error keep the process alive after the command, in
 * milliseconds.
 */
const EXIT_TIMEOUT = 500;

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const status = await runCli(process.argv.slice(2), {
  version,
  console: consoleOf(process),
  signal: stop.signal,
  async startService(databaseUrl) {
    const config = loadConfig(process.env, databaseUrl);
    // The import is dynamic, because only the command `serve` needs the server.
    const { startService } = await import('./composition/service.ts');
    return startService(config, version);
  },
  openStore: (databaseUrl, options) => openCommandStore(process.env, databaseUrl, options),
  storeFiles: (databaseUrl) => storeFilesOf(process.env, databaseUrl),
  openApiDocument: async () => openApiDocumentOf(loadConfig(process.env)),
});

// After a signal, the process exits immediately, even if nobody has read its output.
if (stop.signal.aborted) process.exit(status);
process.exitCode = status;
setTimeout(() => process.exit(), EXIT_TIMEOUT).unref();
