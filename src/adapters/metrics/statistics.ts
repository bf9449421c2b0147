import { Counter, Gauge, type Registry } from 'prom-client';
import type { CacheStatistics, StorageStatistics } from '../../application/ports/statistics.ts';

/** How long the number of idempotency records is cached, in milliseconds. */
const RECORDS_INTERVAL = 60_000;

/** Where the values come from. They need not exist before the metrics are requested. */
export interface MetricsSources {
  /** The name of the thread, if it is not the main thread, which has the metrics of the process and of the database. */
  readonly thread?: string | undefined;
  storageStatistics(): StorageStatistics;
  serverStatistics(): {
    /** `NaN` if the runtime does not tell it. */
    readonly connections: number;
    readonly requestsInFlight: number;
    readonly refused: Readonly<Record<string, number>>;
  };
  /** The number of threads that were started again because they had exited. */
  restartedThreads(): number;
  countRecords(): Promise<number>;
  /** When the last verified backup was made, in milliseconds; `undefined` if the storage makes no backups. */
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Registers metrics whose values are read when they are requested. */
export function registerStatistics(registry: Registry, sources: MetricsSources): void {
  const registers = [registry];
  const server = () => sources.serverStatistics();
  const storage = () => sources.storageStatistics();

  /** Adds a gauge that is left out, instead of 0, when its value is missing. */
  const gauge = (name: string, help: string, read: () => number | undefined | Promise<number | undefined>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  const counter = (name: string, help: string, labelNames: string[], read: () => readonly Sample[]) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });

  gauge(
    'animal_store_http_requests_in_flight',
    'Requests without a response yet',
    () => server().requestsInFlight,
  );
  gauge('animal_store_http_connections', 'Open connections of clients', () => {
    const { connections } = server();
    return Number.isNaN(connections) ? undefined : connections;
  });
  counter('animal_store_http_refused_requests_total', 'Requests refused because of load', ['reason'], () =>
    Object.entries(server().refused).map(([reason, count]) => [{ reason }, count]),
  );
  counter('animal_store_cache_requests_total', 'Reads that looked into a cache', ['cache', 'result'], () => {
    const { pages, keys } = storage();
    return [...cacheSamples('pages', pages), ...cacheSamples('keys', keys)];
  });
  gauge('animal_store_waiting_writes', 'Writes that wait for a transaction', () => storage().waitingWrites);
  new Gauge({
    name: 'animal_store_database_connections',
    help: 'Connections of all pools to the database server',
    labelNames: ['state'],
    registers,
    collect() {
      const { busy, idle } = storage().connections ?? {};
      if (busy !== undefined) this.set({ state: 'busy' }, busy);
      if (idle !== undefined) this.set({ state: 'idle' }, idle);
    },
  });
  gauge(
    'animal_store_database_waiting_calls',
    'Calls that wait for a connection',
    () => storage().connections?.waiting,
  );
  counter(
    'animal_store_thread_busy_seconds_total',
    'Time a thread was not waiting for events',
    ['thread'],
    () => {
      const own = performance.eventLoopUtilization().active / 1000;
      // Bun and Deno do not measure it.
      if (own === 0) return [];
      const seconds = Object.entries({ [sources.thread ?? 'main']: own, ...storage().busySeconds });
      return seconds.map(([thread, value]) => [{ thread }, value]);
    },
  );
  if (sources.thread !== undefined) return;
  counter(
    'animal_store_thread_restarts_total',
    'Threads that were started again because they had exited',
    [],
    () => [[{}, sources.restartedThreads()]],
  );
  gauge(
    'animal_store_idempotency_records',
    'Stored records of idempotency keys',
    cachedCount(() => sources.countRecords()),
  );
}

function cacheSamples(cache: string, statistics: CacheStatistics | undefined): Sample[] {
  if (statistics === undefined) return [];
  return [
    [{ cache, result: 'hit' }, statistics.hits],
    [{ cache, result: 'miss' }, statistics.misses],
  ];
}

/** Returns a function that resolves with `NaN` when the records cannot be counted. */
function cachedCount(count: () => Promise<number>): () => Promise<number> {
  let cached: { readonly count: Promise<number>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (cached === undefined || now >= cached.until) {
      cached = { count: count().catch(() => Number.NaN), until: now + RECORDS_INTERVAL };
    }
    return cached.count;
  };
}
