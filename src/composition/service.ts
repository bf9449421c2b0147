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
    const firstKey = await createFirstKey(config, container.resolve(ApiKeys)).catch(async (error) => {
      await server.stop(0);
      throw error;
    });
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

/** Made once the server listens: a key that was made before would be lost when the port is taken. */
async function createFirstKey({ apiKeys }: Config, keys: ApiKeys): Promise<IssuedApiKey | undefined> {
  return apiKeys.length === 0 ? await keys.createFirst('first key') : undefined;
}
