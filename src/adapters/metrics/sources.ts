/** The metrics that the server and the storage count themselves. A number that they do not have is left out. */

import { Counter, Gauge, type Registry } from 'prom-client';
import type { IdempotencyRecords } from '../../application/ports/idempotent-creates.ts';
import type { StorageStatistics } from '../../application/ports/statistics.ts';

/** How long the number of idempotency records is cached, in milliseconds. */
const RECORDS_INTERVAL = 60_000;

export interface MetricsSources {
  readonly server: {
    statistics(): {
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
  const counted = (): StorageStatistics => storage.statistics?.() ?? {};
  const add = (
    Metric: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    labelNames: string[],
    read: () => Samples | Promise<Samples>,
  ): void => {
    const metric: Counter | Gauge = new Metric({
      name: `animal_store_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const samples = await read();
        metric.reset();
        if (labelNames.length === 0) metric.remove();
        for (const [value, ...labels] of samples)
          if (value !== undefined) metric.labels(...labels).inc(value);
      },
    });
  };
  const gauge = (name: string, help: string, read: () => number | undefined | Promise<number>): void =>
    add(Gauge, name, help, [], async () => [[await read()]]);

  gauge(
    'http_requests_in_flight',
    'Requests without a response yet',
    () => server.statistics().requestsInFlight,
  );
  gauge('http_connections', 'Open connections of clients', () => server.statistics().connections);
  add(Counter, 'http_refused_requests_total', 'Requests refused because of load', ['reason'], () =>
    Object.entries(server.statistics().refused).map(([reason, count]) => [count, reason]),
  );
  add(Counter, 'cache_requests_total', 'Reads that looked into a cache', ['cache', 'result'], () =>
    (['pages', 'keys'] as const).flatMap((cache) => [
      [counted()[cache]?.hits, cache, 'hit'],
      [counted()[cache]?.misses, cache, 'miss'],
    ]),
  );
  gauge('waiting_writes', 'Writes that wait for a transaction', () => counted().waitingWrites);
  add(Gauge, 'database_connections', 'Connections of all pools to the database server', ['state'], () =>
    (['busy', 'idle'] as const).map((state) => [counted().connections?.[state], state]),
  );
  gauge('database_waiting_calls', 'Calls that wait for a connection', () => counted().connections?.waiting);
  add(Counter, 'thread_busy_seconds_total', 'Time a thread was not waiting for events', ['thread'], () => {
    const main = performance.eventLoopUtilization().active / 1000;
    return Object.entries({ main, ...counted().busySeconds }).map(([thread, value]) => [value, thread]);
  });
  const { idempotencyRecords } = storage;
  if (idempotencyRecords === undefined) return;
  let records: Promise<number> | undefined;
  let until = 0;
  gauge('idempotency_records', 'Stored records of idempotency keys', () => {
    if (records !== undefined && performance.now() < until) return records;
    until = performance.now() + RECORDS_INTERVAL;
    records = idempotencyRecords.count().catch(() => Number.NaN);
    return records;
  });
}
