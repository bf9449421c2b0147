/** The metrics of values that the server and the storage count themselves. A value that is not counted is left out. */

import { Counter, Gauge, type Registry } from 'prom-client';
import { pause } from '../../application/pause.ts';
import type { StorageStatistics } from '../../application/ports/statistics.ts';
import type { StoreStorage } from '../../application/ports/storage.ts';

/** How long the number of idempotency records is cached, in milliseconds. */
const RECORDS_INTERVAL = 60_000;
/** How long the metrics wait for this number, in milliseconds. */
const RECORDS_WAIT = 1000;

export interface MetricsSources {
  readonly server: {
    statistics(): {
      connections: number;
      requestsInFlight: number;
      refused: Readonly<Record<string, number>>;
    };
  };
  readonly storage: Pick<StoreStorage, 'statistics' | 'idempotencyRecords'>;
}

/** A value of a metric, and the values of its labels. */
type Sample = readonly [value: number | undefined, ...labels: string[]];

export function registerSources(registry: Registry, { server, storage }: MetricsSources): void {
  const http = () => server.statistics();
  const stored = (): StorageStatistics => storage.statistics?.() ?? {};
  const add = (
    Metric: typeof Counter | typeof Gauge,
    [name, help, ...labelNames]: [name: string, help: string, ...labelNames: string[]],
    read: () => readonly Sample[] | Promise<readonly Sample[]>,
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
    add(Gauge, [name, help], async () => [[await read()]]);

  gauge('http_requests_in_flight', 'Requests without a response yet', () => http().requestsInFlight);
  gauge('http_connections', 'Open connections of clients', () => http().connections);
  add(Counter, ['http_refused_requests_total', 'Refused requests and connections, by reason', 'reason'], () =>
    Object.entries(http().refused).map(([reason, count]) => [count, reason]),
  );
  add(Counter, ['cache_requests_total', 'Reads that looked into a cache', 'cache', 'result'], () =>
    (['pages', 'keys'] as const).flatMap((cache): Sample[] => [
      [stored()[cache]?.hits, cache, 'hit'],
      [stored()[cache]?.misses, cache, 'miss'],
    ]),
  );
  gauge('waiting_writes', 'Writes that wait for a transaction', () => stored().waitingWrites);
  gauge('write_ahead_log_bytes', 'Size of the write-ahead log of SQLite', () => stored().logBytes);
  add(Gauge, ['database_connections', 'Connections to PostgreSQL, by state', 'state'], () =>
    (['busy', 'idle'] as const).map((state) => [stored().connections?.[state], state]),
  );
  gauge('database_waiting_calls', 'Calls that wait for PostgreSQL', () => stored().connections?.waiting);
  add(Counter, ['thread_busy_seconds_total', 'Time in which main and writer worked', 'thread'], () => {
    const main = performance.eventLoopUtilization().active / 1000;
    return Object.entries({ main, ...stored().busySeconds }).map(([thread, value]) => [value, thread]);
  });
  const { idempotencyRecords } = storage;
  if (idempotencyRecords === undefined) return;
  let records = Promise.resolve(0);
  let until = 0;
  gauge('idempotency_records', 'Records of idempotency keys; NaN if slow', () => {
    if (performance.now() >= until) {
      until = Infinity;
      records = idempotencyRecords.count().catch(() => Number.NaN);
      void records.then(() => {
        until = performance.now() + RECORDS_INTERVAL;
      });
    }
    // A storage that does not respond must not delay the metrics, because they report its state.
    return Promise.race([records, pause(RECORDS_WAIT).then(() => Number.NaN)]);
  });
}
