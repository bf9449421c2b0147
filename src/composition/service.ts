/** The service as a whole: from a configuration to a server that listens, and back. */

import { SUNSET } from '../adapters/http/deprecation.ts';
import { ApiKeys, type IssuedApiKey } from '../application/api-keys.ts';
import type { Config } from './config.ts';
import { createContainer, HTTP_SERVER } from './container.ts';
import { createLog, storageLog } from './log.ts';
import { openStorage } from './storage.ts';

export interface Service {
  /** Where the API is: `http://127.0.0.1:3000/v1`. */
  readonly url: string;
  /** The key that a store without any was given. */
  readonly firstKey: IssuedApiKey | undefined;
  /** Answers what is in flight, then closes the storage. May be called again. */
  stop(): Promise<void>;
}

/** Opens the storage and listens. When something is in the way, nothing stays open. */
export async function startService(config: Config, version: string): Promise<Service> {
  const log = await createLog(config.logLevel);
  const storage = await openStorage(config.database, storageLog(log));
  try {
    const container = createContainer(config, storage, log);
    const server = container.resolve(HTTP_SERVER);
    const url = `${await server.listen(config.port, config.host)}/v1`;
    const firstKey =
      config.apiKeys.length === 0 ? await container.resolve(ApiKeys).createFirst('first key') : undefined;
    log.info({ url, version, storage: config.database.kind, node: process.version }, 'listening');
    if (Date.now() >= SUNSET.getTime()) {
      log.warn({ sunset: SUNSET.toISOString() }, 'GET /v1/pets/{petId} is past its sunset');
    }
    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      log.info('stopping');
      await server.stop(config.shutdownTimeout);
      await storage.close();
      log.info('stopped');
    };
    return { url, firstKey, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}
