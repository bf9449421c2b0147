/** The metrics that the server and the storage count themselves. A number that they do not have is left out. */

import { Counter, Gauge, type Registry } from 'prom-client';
import type { IdempotencyRecords } from '../../application/ports/idempotent-creates.ts';
import type { StorageStatistics } from '../../application/ports/statistics.ts';

/** How long the number of idempotency records is cached, in milliseconds. */
const RECORDS_INTERVAL = 60_000;

export interface MetricsSources {
  readonly server: {
    statistics(): {
      /** `NaN` if the runtime does not tell it. */
      readonly connections: number;
      readonly requestsInFlight: number;
      readonly refused: Readonly<Record<string, number>>;
    };
  };
  readonly storage: {
    readonly statistics?: (() => StorageStatistics) | undefined;
    readonly idempotencyRecords?: Pick<IdempotencyRecords, 'count'> | undefined;
  };
}

/** The values of a metric, each with the values of its labels. */
type Samples = readonly (readonly [value: number | undefined, ...labels: string[]])[];

export function registerSources(registry: Registry, { server, storage }: MetricsSources): void {
  const register = (
    Metric: typeof Counter | typeof Gauge,
    [name, ...labelNames]: readonly [string, ...string[]],
    help: string,
    read: (counted: StorageStatistics) => Samples | Promise<Samples>,
  ): void => {
    const options = { name, help, labelNames, registers: [registry] };
    const metric: Counter | Gauge = new Metric({
      ...options,
      async collect() {
        const samples = await read(storage.statistics?.() ?? {});
        metric.reset();
        if (labelNames.length === 0) metric.remove();
        for (const [value, ...labels] of samples)
          if (value !== undefined) metric.labels(...labels).inc(value);
      },
    });
  };

  register(Gauge, ['animal_store_http_requests_in_flight'], 'Requests without a response yet', () => [
    [server.statistics().requestsInFlight],
  ]);
  register(Gauge, ['animal_store_http_connections'], 'Open connections of clients', () => {
    const { connections } = server.statistics();
    return Number.isNaN(connections) ? [] : [[connections]];
  });
  register(
    Counter,
    ['animal_store_http_refused_requests_total', 'reason'],
    'Requests refused because of load',
    () => Object.entries(server.statistics().refused).map(([reason, count]) => [count, reason]),
  );
  register(
    Counter,
    ['animal_store_cache_requests_total', 'cache', 'result'],
    'Reads that looked into a cache',
    ({ pages, keys }) => [
      [pages?.hits, 'pages', 'hit'],
      [pages?.misses, 'pages', 'miss'],
      [keys?.hits, 'keys', 'hit'],
      [keys?.misses, 'keys', 'miss'],
    ],
  );
  register(
    Gauge,
    ['animal_store_waiting_writes'],
    'Writes that wait for a transaction',
    ({ waitingWrites }) => [[waitingWrites]],
  );
  register(
    Gauge,
    ['animal_store_database_connections', 'state'],
    'Connections of all pools to the database server',
    ({ connections }) => [
      [connections?.busy, 'busy'],
      [connections?.idle, 'idle'],
    ],
  );
  register(
    Gauge,
    ['animal_store_database_waiting_calls'],
    'Calls that wait for a connection',
    ({ connections }) => [[connections?.waiting]],
  );
  register(
    Counter,
    ['animal_store_thread_busy_seconds_total', 'thread'],
    'Time a thread was not waiting for events',
    ({ busySeconds }) => {
      const main = performance.eventLoopUtilization().active / 1000;
      return Object.entries({ main, ...busySeconds }).map(([thread, value]) => [value, thread]);
    },
  );
  const { idempotencyRecords } = storage;
  if (idempotencyRecords === undefined) return;
  let counted: Promise<number> | undefined;
  let until = 0;
  register(Gauge, ['animal_store_idempotency_records'], 'Stored records of idempotency keys', async () => {
    if (counted === undefined || performance.now() >= until) {
      until = performance.now() + RECORDS_INTERVAL;
      counted = idempotencyRecords.count().catch(() => Number.NaN);
    }
    return [[await counted]];
  });
}
