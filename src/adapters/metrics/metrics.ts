import { collectDefaultMetrics, type Metric as PromMetric, Registry } from 'prom-client';
import type { Observer, RequestOutcome } from '../../application/ports/observer.ts';
import type {
  CacheStatistics,
  ServerStatistics,
  StorageStatistics,
} from '../../application/ports/statistics.ts';
import { STORAGE_FAULT_REASONS, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import { Histogram, type Series } from './histogram.ts';
import { Metric, type Sample } from './metric.ts';

/** The upper bounds of the buckets, in seconds, and in creates. */
const REQUEST_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COMMIT_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const WRITES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** The methods that have a label of their own. A client can send any method. */
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/** The gauges of prom-client that have the name of a counter, to which `promtool check metrics` objects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** A counter that starts at 0 shows its first increase. */
const ERROR_REASONS: readonly string[] = [
  ...STORAGE_FAULT_REASONS,
  ...['overloaded', 'storage_unavailable', 'internal_error', 'unexpected'],
];

/** How long the number of idempotency records is not counted again, in milliseconds. Counting takes time. */
const RECORDS_INTERVAL = 60_000;

/** The release of the service, and the scheme of its database, such as `sqlite`. */
interface BuildInfo {
  readonly version: string;
  readonly storage: string;
}

/** Where the values come from that are read when the metrics are requested. */
interface MetricsSources {
  storageStatistics(): StorageStatistics;
  serverStatistics(): ServerStatistics;
  /** Resolves with the number of idempotency records. */
  countRecords(): Promise<number>;
}

/** The metrics of one server, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export class Metrics {
  /** Must be notified of the events of the server and of the storage. */
  readonly observer: Observer;
  readonly #registry = new Registry();
  #sources: MetricsSources = {
    storageStatistics: () => ({}),
    serverStatistics: () => ({ connections: 0, requestsInFlight: 0, refused: {} }),
    countRecords: async () => 0,
  };
  readonly #requests = new Histogram(
    'animal_store_http_request_duration_seconds',
    'Time from the head of a request to its response',
    REQUEST_BOUNDS,
  );
  /** The series of each route, by the numbers of method and status. */
  readonly #series = new Map<string | undefined, Map<number, Series>>();
  readonly #errors = new Map(ERROR_REASONS.map((reason) => [reason, 0]));
  #isAvailable = true;
  #records: { readonly count: Promise<number>; readonly until: number } | undefined;

  constructor(build: BuildInfo) {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    const commits = this.#register(
      new Histogram(
        'animal_store_commit_duration_seconds',
        'Time until a transaction was durable',
        COMMIT_BOUNDS,
      ),
    ).add();
    const writes = this.#register(
      new Histogram('animal_store_commit_writes', 'Number of writes in a transaction', WRITES_BOUNDS),
    ).add();
    this.#register(this.#requests);
    for (const metric of this.#sampled(build)) this.#register(metric);
    this.observer = {
      onRequest: (outcome) => this.#seriesOf(outcome).observe(outcome.ms / 1000),
      onError: (error) => this.#countError(error),
      onCommit: (commit) => {
        commits.observe(commit.ms / 1000);
        writes.observe(commit.writes);
      },
      onStorageState: (fault) => {
        this.#isAvailable = fault === undefined;
      },
    };
  }

  /** Sets where values come from. The sources exist only after the storage was opened, which the observer observes. */
  readFrom(sources: MetricsSources): void {
    this.#sources = sources;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #register<T extends Histogram | Metric>(metric: T): T {
    this.#registry.registerMetric(metric as unknown as PromMetric);
    return metric;
  }

  /** The labels of a series are of a fixed set of values, whatever a client sends. */
  #seriesOf({ route, method, status }: RequestOutcome): Series {
    let ofRoute = this.#series.get(route);
    if (ofRoute === undefined) {
      ofRoute = new Map();
      this.#series.set(route, ofRoute);
    }
    const methodNumber = METHODS.indexOf(method);
    const number = methodNumber * 1000 + status;
    let series = ofRoute.get(number);
    if (series === undefined) {
      const labels = {
        method: METHODS[methodNumber] ?? 'other',
        route: route ?? 'none',
        status: String(status),
      };
      series = this.#requests.add(labels);
      ofRoute.set(number, series);
    }
    return series;
  }

  #countError(error: unknown): void {
    const reason = storageFaultReason(error) ?? asAnimalStoreError(error)?.code ?? 'unexpected';
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1);
  }

  #countRecords(): Promise<number> {
    const now = performance.now();
    if (this.#records === undefined || now >= this.#records.until) {
      const count = this.#sources.countRecords().catch(() => Number.NaN);
      this.#records = { count, until: now + RECORDS_INTERVAL };
    }
    return this.#records.count;
  }

  #sampled({ version, storage }: BuildInfo): Metric[] {
    const server = () => this.#sources.serverStatistics();
    const store = () => this.#sources.storageStatistics();
    return [
      new Metric(
        'gauge',
        'animal_store_build_info',
        'The release, the runtime and the storage; always 1',
        () => [[1, { version, node: process.version, storage }]],
      ),
      new Metric('gauge', 'animal_store_http_requests_in_flight', 'Requests without a response yet', () => [
        [server().requestsInFlight],
      ]),
      new Metric('gauge', 'animal_store_http_connections', 'Open connections of clients', () => [
        [server().connections],
      ]),
      new Metric(
        'counter',
        'animal_store_http_refused_requests_total',
        'Requests refused because of load',
        () => Object.entries(server().refused).map(([reason, count]) => [count, { reason }]),
      ),
      new Metric('counter', 'animal_store_errors_total', 'Responses with status 500 or above', () =>
        [...this.#errors].map(([reason, count]) => [count, { reason }]),
      ),
      new Metric(
        'gauge',
        'animal_store_storage_available',
        'Whether the storage has no known fault: 1 or 0',
        () => [[this.#isAvailable ? 1 : 0]],
      ),
      new Metric('counter', 'animal_store_cache_requests_total', 'Reads that looked into a cache', () => [
        ...cacheSamples('pages', store().pages),
        ...cacheSamples('keys', store().keys),
      ]),
      new Metric('gauge', 'animal_store_waiting_writes', 'Writes that wait for a transaction', () =>
        sampleOf(store().waitingWrites),
      ),
      new Metric(
        'gauge',
        'animal_store_database_connections',
        'Connections of the pool for keys, imports and exports',
        () => {
          const { connections } = store();
          if (connections === undefined) return [];
          return [
            [connections.busy, { state: 'busy' }],
            [connections.idle, { state: 'idle' }],
          ];
        },
      ),
      new Metric('gauge', 'animal_store_database_waiting_calls', 'Calls that wait for a connection', () =>
        sampleOf(store().connections?.waiting),
      ),
      new Metric(
        'gauge',
        'animal_store_idempotency_records',
        'Stored records of idempotency keys',
        async () => [[await this.#countRecords()]],
      ),
      new Metric(
        'counter',
        'animal_store_thread_busy_seconds_total',
        'Time a thread was not waiting for events',
        () => [
          [performance.eventLoopUtilization().active / 1000, { thread: 'main' }],
          ...Object.entries(store().busySeconds ?? {}).map(([thread, value]): Sample => [value, { thread }]),
        ],
      ),
    ];
  }
}

function sampleOf(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[value]];
}

function cacheSamples(cache: string, statistics: CacheStatistics | undefined): readonly Sample[] {
  if (statistics === undefined) return [];
  return [
    [statistics.hits, { cache, result: 'hit' }],
    [statistics.misses, { cache, result: 'miss' }],
  ];
}
