import { once } from 'node:events';
import type { Command } from 'commander';
import { explain, isBrokenPipe } from '../errors.ts';
import type { CommandOptions, RunningService, ServeValues } from '../options.ts';
import { EXAMPLE_JSON } from '../pet-attributes.ts';

const CREATE_KEY = 'animal-store keys create --name NAME, with the same settings';

const FILES = 'DATABASE_URL_FILE and API_KEYS_FILE name a file that contains the value.';

export function defineServe(program: Command, options: CommandOptions): void {
  const settings = options.settings.map(
    ({ name, meaning, fallback }) =>
      `  ${name.padEnd(20)} ${meaning}${fallback ? ` (default: ${fallback})` : ''}`,
  );
  program
    .command('serve')
    .description('serve the API until SIGINT, SIGTERM or SIGHUP')
    .option('--host <address>', 'the address to listen on (default: HOST, or 127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (default: PORT, or 3000)')
    .addHelpText(
      'after',
      `\nThe settings are variables of the environment:\n${settings.join('\n')}\n${FILES}`,
    )
    .action((values) => serve(values, options));
}

/** Runs the server until `signal` is aborted. */
async function serve(values: ServeValues, options: CommandOptions): Promise<void> {
  const { console, signal, databaseUrl, startService } = options;
  const service = await startService({ ...values, databaseUrl, isDiscarded: console.isDiscarded });
  try {
    const stopped = signal.aborted ? undefined : once(signal, 'abort');
    await Promise.race([stopped, announce(service, options).then(() => stopped)]);
  } finally {
    await service.stop();
  }
}

/** Prints the URLs and the first key. If this fails, the server keeps running, because the user can create another key. */
async function announce(service: RunningService, { console, signal }: CommandOptions): Promise<void> {
  const { url, store, firstKey } = service;
  const page = new URL('/docs', url);
  const text = `Listening on ${url}\nReference page: ${page}\nStore: ${store}\n${keyNotice(service)}`;
  await console.out(text).catch((error: Error) => {
    const lost = `; the first key is lost, create another: ${CREATE_KEY}`;
    if (firstKey !== undefined) console.err(`${explain(error)}${lost}\n`);
    else if (!signal.aborted && !isBrokenPipe(error)) console.err(`${explain(error)}\n`);
  });
}

function keyNotice({ url, store, firstKey, hasConfiguredKeys }: RunningService): string {
  if (firstKey !== undefined) return welcome(url, firstKey.key);
  if (hasConfiguredKeys) return '';
  if (store === 'memory:') return 'There is no API key: set API_KEYS, or FIRST_KEY=print\n';
  return `To create an API key for this store: ${CREATE_KEY}\n`;
}

function welcome(url: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const create = `curl -sS -w '\\n' ${authorization} -H 'Content-Type: application/json' -d '${EXAMPLE_JSON}' ${url}/pets`;
  return `
The store had no API key, so this one was created. Save it: it is not shown again.

  ${key}

Create a pet, then list all pets:

  ${create} && curl -sS -w '\\n' ${authorization} ${url}/pets

`;
}
