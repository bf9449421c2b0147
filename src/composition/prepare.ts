import { createLog, type Logger, logObserver } from '../adapters/log/index.ts';
import { Metrics } from '../adapters/metrics/index.ts';
import { findTracing } from '../adapters/tracing/index.ts';
import { combineObservers } from '../application/observers.ts';
import type { Config } from './config.ts';
import { createParts, type Parts } from './container.ts';
import { openDatabase } from './open-database.ts';

/** An open store and the server for it, with the configuration and the log. The server does not listen yet. */
export interface Prepared {
  readonly config: Config;
  readonly log: Logger;
  readonly parts: Parts;
  /**
   * Completes the accepted writes and closes the store. Must be called after the server has stopped. A second call has
   * no effect.
   */
  close(): Promise<void>;
}

/** Opens the database, creates or migrates its tables, and creates the store. Does not start the server. */
export async function prepare(config: Config, version: string): Promise<Prepared> {
  const tracing = findTracing(config.database.scheme, version);
  const log = await createLog(config.logLevel, tracing?.logFields);
  const metrics = new Metrics({ version, storage: config.database.scheme });
  const observers = [
    ...(tracing === undefined ? [] : [tracing.observer]),
    logObserver(log, { sample: config.logSample, hasTraceparent: tracing === undefined }),
    metrics.observer,
  ];
  const opened = await openDatabase(config.database, { observer: combineObservers(observers) });
  const storage = tracing?.traceStorage(opened) ?? opened;
  const parts = createParts(config, storage, observers, metrics);
  metrics.readFrom({
    serverStatistics: () => parts.server.statistics(),
    storageStatistics: () => storage.statistics?.() ?? {},
    countRecords: () => storage.idempotentCreates.count(),
  });
  const close = async (): Promise<void> => {
    await parts.store.close();
    await tracing?.flush();
  };
  return { config, log, parts, close };
}
