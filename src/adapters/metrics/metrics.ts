import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { Observer } from '../../application/ports/observer.ts';
import { STORAGE_FAULT_REASONS, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import { type MeasuredRequest, RequestDurations } from './request-durations.ts';
import { type MetricsSources, registerStatistics } from './statistics.ts';

/** The gauges of prom-client that have the name of a counter, to which `promtool check metrics` objects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** The upper bounds of the buckets, in seconds, and in creates. */
const COMMIT_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const WRITES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** A counter that starts at 0 shows its first increase. */
const ERROR_REASONS: readonly string[] = [
  ...STORAGE_FAULT_REASONS,
  ...['overloaded', 'storage_unavailable', 'internal_error', 'unexpected'],
];

export const METRICS_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

interface MetricsOptions extends MetricsSources {
  readonly version: string;
  /** The scheme of its database, such as `sqlite`. */
  readonly storage: string;
}

/** The values of the metrics of one thread, as a message to another thread. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The metrics whose values of several threads are not added. */
const AGGREGATORS: Readonly<Record<string, string>> = {
  animal_store_build_info: 'first',
  animal_store_storage_available: 'min',
  process_start_time_seconds: 'first',
};

interface MetricsObserver extends Required<Pick<Observer, 'onCommit' | 'onStorageState'>> {
  readonly ignoresClient: true;
  onRequest(request: MeasuredRequest): void;
  onError(error: unknown): void;
}

/** The metrics of one server, in the text format of Prometheus. */
export class Metrics {
  /** Must be notified of the events of the server and of the storage. */
  readonly observer: MetricsObserver;
  readonly #registry = new Registry();
  readonly #durations = new RequestDurations();

  constructor(options: MetricsOptions) {
    const { version, storage, thread } = options;
    collectDefaultMetrics({ register: this.#registry });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      const isOfMainThread = thread !== undefined && name.startsWith('process_');
      if (isOfMainThread || MISNAMED.includes(name)) this.#registry.removeSingleMetric(name);
    }
    new Gauge({
      name: 'animal_store_build_info',
      help: 'The release, the runtime and the storage; always 1',
      labelNames: ['version', 'node', 'storage'],
      registers: [this.#registry],
    }).set({ version, node: process.version, storage }, 1);
    registerStatistics(this.#registry, options);
    this.observer = {
      ...metricsObserver(this.#registry),
      ignoresClient: true,
      onRequest: (request) => this.#durations.observe(request),
    };
  }

  readonly contentType: string = METRICS_TYPE;

  async text(): Promise<string> {
    return textOfThreads([await this.snapshot()]);
  }

  /** Resolves with the present values, for {@link textOfThreads}. */
  async snapshot(): Promise<MetricsSnapshot> {
    const registries = [this.#registry, ...this.#durations.registries];
    return (await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()))).flat();
  }
}

function metricsObserver(registry: Registry): Omit<MetricsObserver, 'ignoresClient' | 'onRequest'> {
  const registers = [registry];
  const commits = new Histogram({
    name: 'animal_store_commit_duration_seconds',
    help: 'Time until a transaction was durable',
    buckets: COMMIT_BOUNDS,
    registers,
  });
  const writes = new Histogram({
    name: 'animal_store_commit_writes',
    help: 'Number of writes in a transaction',
    buckets: WRITES_BOUNDS,
    registers,
  });
  const errors = new Counter({
    name: 'animal_store_errors_total',
    help: 'Responses with status 500 or above',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ERROR_REASONS) errors.inc({ reason }, 0);
  const available = new Gauge({
    name: 'animal_store_storage_available',
    help: 'Whether the storage has no known fault: 1 or 0',
    registers,
  });
  available.set(1);
  return {
    onError: (error) =>
      errors.inc({ reason: storageFaultReason(error) ?? asAnimalStoreError(error)?.code ?? 'unexpected' }),
    onCommit: (commit) => {
      commits.observe(commit.ms / 1000);
      writes.observe(commit.writes);
    },
    onStorageState: (fault) => available.set(fault === undefined ? 1 : 0),
  };
}

/** Returns the metrics of all threads of a process, in the text format. */
export async function textOfThreads(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return await aggregate(snapshots).metrics();
}

export async function addSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return await aggregate(snapshots).getMetricsAsJSON();
}

/** Returns what remains of the metrics of a thread that has exited: its counters and histograms. */
export function countersOf(metrics: MetricsSnapshot): MetricsSnapshot {
  return metrics.filter(({ type }) => String(type) !== 'gauge');
}

function aggregate(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate(snapshots.map((metrics) => metrics.map(withAggregator)));
}

/** The slowest event loop is shown, because the one of the main thread has no requests. */
function withAggregator<T extends { readonly name: string }>(metric: T): T {
  const { name } = metric;
  const aggregator = AGGREGATORS[name] ?? (name.startsWith('nodejs_eventloop_lag') ? 'max' : undefined);
  return aggregator === undefined ? metric : { ...metric, aggregator };
}
