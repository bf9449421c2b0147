import { once } from 'node:events';
import type { IssuedApiKey } from '../../application/api-keys.ts';
import type { Console } from './console.ts';
import { explain, isBrokenPipe } from './errors.ts';
import type { CliOptions } from './options.ts';

export type StartService = (databaseUrl: string | undefined) => Promise<RunningService>;

export interface RunningService {
  readonly url: string;
  readonly firstKey: IssuedApiKey | undefined;
  stop(): Promise<void>;
}

/** Serves until the signal. */
export async function serve(databaseUrl: string | undefined, options: CliOptions): Promise<void> {
  const { console, signal, startService } = options;
  const service = await startService(databaseUrl);
  try {
    const end = aborted(signal);
    await Promise.race([end, greet(service, console).then(() => end)]);
  } finally {
    await service.stop();
  }
}

/** A server goes on when this cannot be written. A key that was lost with it can be made anew. */
async function greet({ url, firstKey }: RunningService, console: Console): Promise<void> {
  try {
    await console.out(`Listening on ${url}\n`);
    if (firstKey !== undefined) await console.out(welcome(url, firstKey.key));
  } catch (error) {
    if (isBrokenPipe(error)) return;
    const advice =
      firstKey === undefined ? '' : '; the first key is lost: animal-store keys create --name NAME';
    console.err(`${explain(error)}${advice}\n`);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The only time that the key is shown. */
function welcome(url: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const create = `curl -sS -w '\\n' ${authorization} -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":7}' ${url}/pets`;
  return `
This store had no API key, so it was given one. Keep it: it is not shown again.

  ${key}

Add an animal, then list them all:

  ${create} && curl -sS -w '\\n' ${authorization} ${url}/pets

`;
}
