import { once } from 'node:events';
import { explain, isBrokenPipe } from '../errors.ts';
import type { CommandOptions, RunningService, ServeValues } from '../options.ts';
import type { Console } from '../output/console.ts';
import { keyNotice } from './key-notice.ts';
import { refuseOutputToStore } from './store.ts';

/** Runs the server until `signal` is aborted. */
export async function serve(values: ServeValues, options: CommandOptions): Promise<void> {
  const { console, signal, databaseUrl, startService } = options;
  await refuseOutputToStore(options);
  const service = await startService({ ...values, databaseUrl });
  try {
    const stopped = aborted(signal);
    await Promise.race([stopped, announce(service, console).then(() => stopped)]);
  } finally {
    await service.stop();
  }
}

/**
 * Prints the URLs, and what is to be said about API keys. A failure to print does not end the server, because the user
 * can create another key.
 */
async function announce(service: RunningService, console: Console): Promise<void> {
  const { url, firstKey } = service;
  const page = new URL('/docs', url);
  try {
    await console.out(`Listening on ${url}\nReference page: ${page}\n${keyNotice(service)}`);
  } catch (error) {
    if (isBrokenPipe(error)) return;
    const lost = '; the first key is lost, create another: animal-store keys create --name NAME';
    console.err(`${explain(error)}${firstKey === undefined ? '' : lost}\n`);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
