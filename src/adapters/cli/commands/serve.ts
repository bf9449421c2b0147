import { once } from 'node:events';
import { commandLine } from '../command-line.ts';
import { explain, isBrokenPipe } from '../errors.ts';
import type { CommandOptions, RunningService, ServeValues } from '../options.ts';
import { refuseOutputToStore } from './store.ts';

/** Runs the server until `signal` is aborted. */
export async function serve(values: ServeValues, options: CommandOptions): Promise<void> {
  const { signal, databaseUrl, startService } = options;
  await refuseOutputToStore(options);
  const service = await startService({ ...values, databaseUrl });
  try {
    const stopped = signal.aborted ? undefined : once(signal, 'abort');
    await Promise.race([stopped, announce(service, options).then(() => stopped)]);
  } finally {
    await service.stop();
  }
}

/** A failure to print does not end the server, because the user can create another key. */
async function announce(service: RunningService, { console, program }: CommandOptions): Promise<void> {
  const { url, store, firstKey, databaseUrl } = service;
  const create = commandLine(program, 'keys create --name NAME', databaseUrl);
  const page = new URL('/docs', url);
  try {
    await console.out(
      `Listening on ${url}\nReference page: ${page}\nStore: ${store}\n${keyNotice(service, create)}`,
    );
  } catch (error) {
    if (isBrokenPipe(error)) return;
    const lost = `; the first key is lost, create another: ${create}`;
    console.err(`${explain(error)}${firstKey === undefined ? '' : lost}\n`);
  }
}

function keyNotice(
  { url, firstKey, hasConfiguredKeys, databaseUrl }: RunningService,
  create: string,
): string {
  if (firstKey !== undefined) return welcome(url, firstKey.key);
  if (hasConfiguredKeys) return '';
  if (databaseUrl === 'memory:') return 'There is no API key: set API_KEYS, or FIRST_KEY=print\n';
  return `To create another API key for this store: ${create}\n`;
}

function welcome(url: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const create = `curl -sS -w '\\n' ${authorization} -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":7}' ${url}/pets`;
  return `
The store had no API key, so this one was created. Save it: it is not shown again.

  ${key}

Create a pet, then list all pets:

  ${create} && curl -sS -w '\\n' ${authorization} ${url}/pets

`;
}
