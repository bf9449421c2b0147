/** The process: arguments, signals, exit status. */

import { readFileSync } from 'node:fs';
import { runCli } from './adapters/cli/program.ts';
import { loadConfig } from './composition/config.ts';
import { startService } from './composition/service.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());

process.exitCode = await runCli(process.argv.slice(2), {
  version,
  console: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  },
  signal: end.signal,
  startService: (databaseUrl) => {
    const environment =
      databaseUrl === undefined
        ? process.env
        : { ...process.env, DATABASE_URL: databaseUrl, DATABASE_URL_FILE: '' };
    return startService(loadConfig(environment), version);
  },
});
