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

const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());

/** Whoever read our output may have seen enough; a disk that is full is another matter. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (isBrokenPipe(error)) return;
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  });
}

/** The server is loaded on use: no other command needs it. */
process.exitCode = await runCli(process.argv.slice(2), {
  version,
  console: consoleOf(process),
  signal: end.signal,
  startService: async (databaseUrl) => {
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

function environmentWith(databaseUrl: string | undefined): Environment {
  return databaseUrl === undefined
    ? process.env
    : { ...process.env, DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' };
}
