/** Starts and stops the service. */

import type { AnimalStore } from '../application/animal-store.ts';
import type { IssuedApiKey } from '../application/api-keys.ts';
import type { Config } from './config.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Serving, serve } from './serve.ts';

export interface Service {
  /** The base URL of the API, such as `http://127.0.0.1:3000/v1`. */
  readonly url: string;
  /**
   * The API key that was created at the start. `undefined` if the configuration contains keys. Also `undefined` if the
   * store has ever contained a key.
   */
  readonly firstKey: IssuedApiKey | undefined;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  /** Completes the requests in flight and closes the store. A second call returns the same promise. */
  stop(): Promise<void>;
}

/** Opens the store and starts the server. If a step fails, closes the server and the store, and rejects. */
export async function startService(config: Config, version: string): Promise<Service> {
  const prepared = await prepare(config);
  let serving: Serving | undefined;
  try {
    serving = await serve(prepared, version);
    // The key is created after `serve`, because `serve` rejects when the port is in use. If a key were created before
    // such a failure, the operator would never see the key.
    prepared.parts.store.startMaintenance();
    const firstKey = await createFirstKey(config, prepared.parts.store);
    return serviceOf(prepared, serving, firstKey);
  } catch (error) {
    await serving?.stop(0);
    await prepared.close();
    throw error;
  }
}

/** Creates an API key if the store has never had a key and the configuration contains no keys. */
async function createFirstKey(
  { apiKeys }: Config,
  store: Pick<AnimalStore, 'apiKeys'>,
): Promise<IssuedApiKey | undefined> {
  return apiKeys.length === 0 ? await store.apiKeys.createFirst('first key') : undefined;
}

function serviceOf(
  { config, log, close }: Prepared,
  serving: Serving,
  firstKey: IssuedApiKey | undefined,
): Service {
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await serving.stop(config.shutdownTimeout);
    await close();
    log.info('stopped');
  };
  let stopped: Promise<void> | undefined;
  const hasConfiguredKeys = config.apiKeys.length > 0;
  return { url: serving.url, firstKey, hasConfiguredKeys, stop: () => (stopped ??= stop()) };
}
