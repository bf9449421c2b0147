/** Since the storage was opened. */
export interface CacheStatistics {
  readonly hits: number;
  readonly misses: number;
}

/** What a storage counts and measures, for monitoring. A number that the engine does not have is missing. */
export interface StorageStatistics {
  /** The cache of pages. */
  readonly pages?: CacheStatistics | undefined;
  /** The cache of API keys. */
  readonly keys?: CacheStatistics | undefined;
  /** The number of writes that wait for a transaction. */
  readonly waitingWrites?: number | undefined;
  /** How long each thread of the storage was busy, in seconds since its start, by the name of the thread. */
  readonly busySeconds?: Readonly<Record<string, number>> | undefined;
  readonly connections?: ConnectionStatistics | undefined;
}

export interface ConnectionStatistics {
  readonly busy: number;
  readonly idle: number;
  /** The number of calls that wait for a connection. */
  readonly waiting: number;
}

/** What an HTTP server counts, for monitoring. */
export interface ServerStatistics {
  /** The number of open connections; `NaN` if the runtime does not tell it. */
  readonly connections: number;
  /** The number of requests that have no response yet. */
  readonly requestsInFlight: number;
  /** The number of requests that were refused because of load, or because the server was stopping, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** @internal The number of threads that were started again because they had exited. */
  readonly restartedThreads?: number;
}
