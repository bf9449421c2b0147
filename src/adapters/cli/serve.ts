import { once } from 'node:events';
import type { Console } from './console.ts';
import { explain, isBrokenPipe } from './errors.ts';
import type { CliOptions, RunningService, ServeValues } from './options.ts';
import { ANOTHER_KEY, welcome } from './welcome.ts';

/** Runs the server until `signal` is aborted. */
export async function serve(
  values: ServeValues,
  { console, signal, startService }: CliOptions,
): Promise<void> {
  const service = await startService(values);
  try {
    const stopped = aborted(signal);
    await Promise.race([stopped, announce(service, console).then(() => stopped)]);
  } finally {
    await service.stop();
  }
}

/**
 * Prints the URLs and, if the server created a key, the first key or the path of its file. If the server accepts only
 * keys that were created earlier, prints how to create another key. A failure to print does not end the server, because
 * the user can create another key.
 */
async function announce(
  { url, firstKey, firstKeyFile, hasConfiguredKeys }: RunningService,
  console: Console,
): Promise<void> {
  try {
    await console.out(`Listening on ${url}\nReference page: ${new URL('/docs', url)}\n`);
    if (firstKey !== undefined) await console.out(welcome(url, firstKey.key));
    else if (firstKeyFile !== undefined) {
      await console.out(`The first API key is in the file ${firstKeyFile}\n`);
    } else if (!hasConfiguredKeys) await console.out(ANOTHER_KEY);
  } catch (error) {
    if (isBrokenPipe(error)) return;
    const advice =
      firstKey === undefined
        ? ''
        : '; the first key is lost, create another: animal-store keys create --name NAME';
    console.err(`${explain(error)}${advice}\n`);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
