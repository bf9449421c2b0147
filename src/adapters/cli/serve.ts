import type { IssuedApiKey } from '../../application/api-keys.ts';
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
  console.out(`Listening on ${service.url}\n`);
  if (service.firstKey !== undefined) console.out(welcome(service.url, service.firstKey.key));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await service.stop();
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
