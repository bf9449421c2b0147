/** The hits and misses of a cache since the storage was opened. */
export interface CacheStatistics {
  readonly hits: number;
  readonly misses: number;
}

/** The statistics of a storage. A member is absent if it does not apply to the engine. */
export interface StorageStatistics {
  readonly pages?: CacheStatistics | undefined;
  readonly keys?: CacheStatistics | undefined;
  /** The number of writes that wait for a transaction. */
  readonly waitingWrites?: number | undefined;
  /** The size of the write-ahead log of SQLite, which grows while a read transaction stays open. */
  readonly logBytes?: number | undefined;
  /** For each thread of the storage, by its name: the seconds for which it has been busy since it started. */
  readonly busySeconds?: Readonly<Record<string, number>> | undefined;
  readonly connections?: ConnectionStatistics | undefined;
}

export interface ConnectionStatistics {
  readonly busy: number;
  readonly idle: number;
  /** The number of calls that wait for a connection. */
  readonly waiting: number;
}
