/** Starts and stops the service. */

import type { Config } from './config.ts';
import { type CreatedKey, createFirstKey } from './first-key.ts';
import { type Prepared, prepare } from './prepare.ts';
import { type Serving, serve } from './serve.ts';

/**
 * A running service. It has a first key only if the key was created at the start: the configuration contains no keys,
 * and the store has never had a key before.
 */
export interface Service extends CreatedKey {
  /** The base URL of the API, such as `http://127.0.0.1:3000/v1`. */
  readonly url: string;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  /** Completes the requests in flight and closes the store. A second call returns the same promise. */
  stop(): Promise<void>;
  /** Logs an error that no code has caught. */
  logUncaughtError(error: unknown): void;
}

/** Opens the store and starts the server. If a step fails, closes the server and the store, and rejects. */
export async function startService(config: Config, version: string): Promise<Service> {
  const prepared = await prepare(config, version);
  let serving: Serving | undefined;
  try {
    serving = await serve(prepared, version);
    prepared.parts.store.startMaintenance();
    // The key is created after `serve`, because `serve` rejects when the port is in use. If a key were created before
    // such a failure, the operator would never see the key.
    const created = await createFirstKey(config, prepared.parts.store);
    serving.announce();
    return serviceOf(prepared, serving, created);
  } catch (error) {
    await serving?.stop(0);
    await prepared.close();
    throw error;
  }
}

function serviceOf({ config, log, close }: Prepared, serving: Serving, created: CreatedKey): Service {
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await serving.stop(config.shutdownTimeout);
    await close();
    log.info('stopped');
  };
  let stopped: Promise<void> | undefined;
  const hasConfiguredKeys = config.apiKeys.length > 0;
  return {
    ...created,
    url: serving.url,
    hasConfiguredKeys,
    stop: () => (stopped ??= stop()),
    logUncaughtError: (err) => log.fatal({ err }, 'uncaught error'),
  };
}
